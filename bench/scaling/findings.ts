import { table } from '../report.ts';
import { type Panel, plot } from '../routing/plot.ts';
import type { Played } from './simulate.ts';

/** The steps of the stores that were measured in a second ("Hold and settle alone" of 2026-11-25), two a pair. */
export const storeSteps = { Redis: 109_600, PostgreSQL: 33_700 } as const;

/** Requests per second at one instance for one budget. */
export const rates = [0.5, 2, 8, 32, 128, 512, 2_000] as const;
/** Instances that spend one budget to its end together. */
export const crowds = [1, 10, 100, 1_000] as const;
/** Fleets: instances, budgets, and requests per second at each instance. */
export const fleets = [
  { instances: 1, budgets: 1, rate: 1_000 },
  { instances: 10, budgets: 1_000, rate: 1_000 },
  { instances: 100, budgets: 1_000_000, rate: 1_000 },
  { instances: 1_000, budgets: 10_000_000, rate: 1_000 },
] as const;

export type Fleet = (typeof fleets)[number];

/** The results, as written to results.json. */
export interface ScalingFindings {
  seed: number;
  /** By rate: out of slices, and each request by itself. */
  rates: readonly { rate: number; slices: Played; single: Played }[];
  /** The same with a store 80 ms away. */
  region: readonly { rate: number; slices: Played; single: Played }[];
  /** By instances, with a budget that all of them spend to its end. */
  crowds: readonly { instances: number; played: Played }[];
}

/** Returns the steps of a request at a rate, between the rates that were played. */
function stepsAt(found: ScalingFindings['rates'], way: 'slices' | 'single', rate: number): number {
  const above = found.findIndex((one) => one.rate > rate);
  const [from, to] = [found[Math.max(above - 1, 0)], found[above]];
  if (from === undefined || to === undefined) return found.at(-1)?.[way].steps ?? 0;
  const part = Math.max(0, Math.log(rate / from.rate) / Math.log(to.rate / from.rate));
  return from[way].steps + part * (to[way].steps - from[way].steps);
}

/** The steps of a fleet, where budgets are asked for as words are used: the second half as often as the first, and so on. */
export interface FleetSteps {
  /** Each request by itself. */
  single: number;
  /** Out of slices, requests at any instance. */
  spread: number;
  /** Out of slices, the requests of a budget at one instance. */
  sticky: number;
}

/** Returns the steps per second of a fleet. */
export function stepsOf({ rates: found }: Pick<ScalingFindings, 'rates'>, fleet: Fleet): FleetSteps {
  const { instances, budgets, rate } = fleet;
  const total = instances * rate;
  let sum = 0;
  for (let rank = 1; rank <= budgets; rank++) sum += 1 / rank;
  let single = 0;
  let spread = 0;
  let sticky = 0;
  for (let rank = 1; rank <= budgets; rank++) {
    const asked = total / rank / sum;
    single += asked * stepsAt(found, 'single', asked / instances);
    spread += asked * stepsAt(found, 'slices', asked / instances);
    // One instance cannot serve more than its share: the most wanted budgets have several.
    sticky += asked * stepsAt(found, 'slices', Math.min(asked, rate));
  }
  return { single, spread, sticky };
}

const titles = [
  'Requests per second, for one budget at one instance',
  'each by itself',
  'out of slices',
  'held without a step',
];

export function ratesTable({ rates: found }: Pick<ScalingFindings, 'rates'>): string {
  return table(
    titles,
    found.map(({ rate, slices, single }) => [
      String(rate),
      single.steps.toFixed(2),
      slices.steps.toFixed(2),
      `${(slices.local * 100).toFixed(1)} %`,
    ]),
  );
}

export function regionTable({ region }: Pick<ScalingFindings, 'region'>): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return table(
    ['Requests per second', 'each by itself', 'out of slices', 'the slowest of a hundred'],
    region.map(({ rate, slices, single }) => [
      String(rate),
      ms(single.holdMs),
      ms(slices.holdMs),
      ms(slices.holdP99Ms),
    ]),
  );
}

export function crowdsTable({ crowds: found }: Pick<ScalingFindings, 'crowds'>): string {
  const percent = (part: number, digits = 1) => `${(part * 100).toFixed(digits)} %`;
  return table(
    ['Instances', 'spent in the end', 'most spent and held', 'free at the first refusal', 'steps for a request'],
    found.map(({ instances, played }) => [
      instances.toLocaleString('en'),
      percent(played.used),
      percent(played.most),
      played.freeAtFirstRefusal === null ? '' : percent(played.freeAtFirstRefusal, 2),
      played.steps.toFixed(2),
    ]),
  );
}

const many = (count: number, what: string) =>
  `${count < 1e6 ? count.toLocaleString('en') : `${count / 1e6} million`} ${what}${count === 1 ? '' : 's'}`;
const fleetName = ({ instances, budgets }: Fleet) => `${many(instances, 'instance')}, ${many(budgets, 'budget')}`;

export function fleetsTable(found: Pick<ScalingFindings, 'rates'>): string {
  const steps = (value: number) => Math.round(value).toLocaleString('en');
  const servers = (value: number, name: keyof typeof storeSteps) => String(Math.ceil(value / storeSteps[name]));
  return table(
    [
      'Fleet',
      'requests per second',
      'steps per second, each by itself',
      'out of slices',
      'budgets sticky',
      'servers of Redis',
      'of PostgreSQL',
    ],
    fleets.map((fleet) => {
      const { single, spread, sticky } = stepsOf(found, fleet);
      const total = fleet.instances * fleet.rate;
      return [
        fleetName(fleet),
        steps(total),
        steps(single),
        steps(spread),
        steps(sticky),
        servers(spread, 'Redis'),
        servers(spread, 'PostgreSQL'),
      ];
    }),
  );
}

/** Draws the steps of a request by its rate. */
export function plotRates({ rates: found }: Pick<ScalingFindings, 'rates'>): string {
  // Names that are numbers would be sorted.
  const nameOf = (rate: number) => `${rate.toLocaleString('en')} per second`;
  const of = Object.fromEntries(found.map(({ rate }) => [nameOf(rate), { title: nameOf(rate) }]));
  const rows = Object.fromEntries(found.map((one) => [nameOf(one.rate), one]));
  const panels: Panel<ScalingFindings['rates'][number]>[] = [
    {
      title: 'steps: out of slices, by itself',
      bars: ({ slices, single }) => [slices.steps, single.steps],
      text: ({ slices, single }) => `${slices.steps.toFixed(2)} · ${single.steps.toFixed(2)}`,
    },
    {
      title: 'held without a step',
      bars: ({ slices }) => [slices.local],
      text: ({ slices }) => `${(slices.local * 100).toFixed(1)} %`,
    },
  ];
  return plot('Steps at the store for a request, by the requests for its budget', of, rows, panels, Object.keys(of));
}

/** Draws the steps of fleets. */
export function plotFleets(found: Pick<ScalingFindings, 'rates'>): string {
  const of = Object.fromEntries(fleets.map((fleet) => [fleetName(fleet), { title: fleetName(fleet) }]));
  const rows = Object.fromEntries(
    fleets.map((fleet) => {
      const { single, spread, sticky } = stepsOf(found, fleet);
      const total = fleet.instances * fleet.rate;
      return [fleetName(fleet), [sticky / total, spread / total, single / total]];
    }),
  );
  const panel: Panel<number[]> = {
    title: 'sticky, out of slices, by itself',
    bars: (steps) => steps,
    text: (steps) => steps.map((one) => one.toFixed(2)).join(' · '),
  };
  return plot('Steps at the store for a request, by fleet', of, rows, [panel], Object.keys(of));
}
