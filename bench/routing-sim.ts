// Compares routing strategies. Each strategy sends the same requests through a complete gateway, in simulated time, to
// the same ten endpoints. Their latency drifts, and they fail sometimes. Takes a few minutes and gives the same numbers
// each time.
import { mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import { startWorker } from './processes.ts';
import { hedgeTable, type RoutingFindings, strategyTable } from './routing/findings.ts';
import { plotHedging, plotStrategies } from './routing/plot.ts';
import type { Scenario, Summary } from './routing/simulate.ts';
import type { SimulationQuestion } from './routing/simulate-worker.ts';
import { hedges, strategies } from './routing/strategies.ts';
import { hedgeScenario, strategyScenario } from './routing/world.ts';

const { values } = parseArgs({
  options: {
    /** `strategies` or `hedge`: runs only this part, and prints the results without writing files. */
    only: { type: 'string' },
    /** Another number of requests; nothing is written then. */
    requests: { type: 'string' },
    seed: { type: 'string' },
  },
});
if (values.only !== undefined && values.only !== 'strategies' && values.only !== 'hedge') {
  process.stderr.write(`There is no part ${values.only}. There are: strategies, hedge.\n`);
  process.exit(1);
}
const requests = Number(values.requests ?? 100_000);
const seed = Number(values.seed ?? 7);

await ensureBuilt();

const wants = (part: string) => values.only === undefined || values.only === part;
const found: Partial<RoutingFindings> = { requests, seed };
if (wants('strategies')) {
  found.strategies = await compare('strategies', strategies, { ...strategyScenario, requests, seed });
  say(`\n${strategyTable(found.strategies)}\n`);
}
if (wants('hedge')) {
  found.hedge = await compare('hedge', hedges, { ...hedgeScenario, requests, seed });
  say(`\n${hedgeTable(found.hedge)}\n`);
}
if (values.only === undefined && values.requests === undefined && values.seed === undefined)
  write(found as RoutingFindings);

/** Runs two simulations at a time; they do not depend on each other. */
async function compare<Name extends string>(
  part: SimulationQuestion['part'],
  of: Record<Name, unknown>,
  scenario: Scenario,
): Promise<Record<Name, Summary>> {
  const names = Object.keys(of) as Name[];
  const waiting = [...names];
  const summaries: Partial<Record<Name, Summary>> = {};
  const work = async (side: 'under-test' | 'peer') => {
    const worker = await startWorker('routing/simulate-worker.ts', side);
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const start = performance.now();
      summaries[name] = await worker.ask<Summary>('simulate', { part, name, scenario } satisfies SimulationQuestion);
      say(`simulated ${name} in ${((performance.now() - start) / 1000).toFixed(0)} s`);
    }
    await worker.stop();
  };
  await Promise.all([work('under-test'), work('peer')]);
  return Object.fromEntries(names.map((name) => [name, summaries[name]])) as Record<Name, Summary>;
}

function write(all: RoutingFindings): void {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  mkdirSync(at('../docs/img'), { recursive: true });
  writeFileSync(at('routing/results.json'), `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(at('../docs/img/routing-sim.svg'), plotStrategies(all));
  writeFileSync(at('../docs/img/hedge-sim.svg'), plotHedging(all));
  say('written to bench/routing/results.json and docs/img');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
