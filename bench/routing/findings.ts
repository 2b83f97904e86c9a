import { table } from '../report.ts';
import type { Summary } from './simulate.ts';
import { hedges, type Strategy, strategies } from './strategies.ts';

/** The results of the simulation, as written to results.json. */
export interface RoutingFindings {
  requests: number;
  seed: number;
  strategies: Record<keyof typeof strategies, Summary>;
  /** Results when the first token of some responses takes very long. */
  hedge: Record<keyof typeof hedges, Summary>;
}

export function strategyTable(found: RoutingFindings['strategies']): string {
  const cheapest = found.price.usdPerThousand;
  return summaryTable(strategies, found, 'of `sort: price`', ({ usdPerThousand }) =>
    (usdPerThousand / cheapest).toFixed(2),
  );
}

export function hedgeTable(found: RoutingFindings['hedge']): string {
  const without = found.off.usdPerThousand;
  return summaryTable(hedges, found, 'of hedging off', ({ usdPerThousand }) => (usdPerThousand / without).toFixed(3));
}

function summaryTable<Name extends string>(
  of: Record<Name, Strategy>,
  found: Record<Name, Summary>,
  ratioTitle: string,
  ratioOf: (summary: Summary) => string,
): string {
  const head = ['', 'succeeded', 'USD per 1,000', ratioTitle, 'attempts', 'first token p50, s', 'p99, s'];
  const rows = (Object.keys(of) as Name[]).map((name) => {
    const summary = found[name];
    return [
      of[name].title,
      `${(summary.succeeded * 100).toFixed(3)} %`,
      summary.usdPerThousand.toFixed(3),
      ratioOf(summary),
      summary.attemptsPerRequest.toFixed(3),
      seconds(summary.p50Ms),
      seconds(summary.p99Ms),
    ];
  });
  return table(head, rows);
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
