import type { Written } from '../config-source.ts';
import { freeSlug, type ImportedEndpoint, type ImportedModel } from './models.ts';

/** An endpoint of a plan, with the parameters that requests get there. */
export interface Leaf {
  endpoint: Omit<ImportedEndpoint, 'weight'>;
  defaults: Record<string, Written>;
}

/** Leaves that share requests by their weights. */
export type Stage = readonly { leaf: Leaf; weight: number }[];

/** Stages in the order in which they are tried: the next serves where all of one have failed. */
export type Stages = readonly Stage[];

/** A leaf alone. */
export function oneLeaf(leaf: Leaf): Stages {
  return [[{ leaf, weight: 1 }]];
}

/** Plans one after another. */
export function inOrder(plans: readonly Stages[]): Stages {
  return plans.flat();
}

/**
 * Plans that share requests. What each would try later is tried behind all of them.
 * @returns `isExact` is false where a plan has later stages: they are not tried right behind their own
 */
export function shared(plans: readonly { stages: Stages; weight: number }[]): { stages: Stages; isExact: boolean } {
  const first = plans.flatMap(({ stages, weight }) => {
    const stage = stages[0] ?? [];
    const sum = stage.reduce((total, one) => total + one.weight, 0);
    return stage.map(({ leaf, weight: own }) => ({ leaf, weight: sum > 0 ? (weight * own) / sum : 0 }));
  });
  const later = plans.flatMap(({ stages }) => stages.slice(1));
  return { stages: first.length === 0 ? later : [first, ...later], isExact: later.length === 0 || plans.length === 1 };
}

/**
 * The models that serve a plan: one for stages that a model can hold, and one as a fallback for each later stage that
 * shares requests, or that has other parameters.
 * @param taken  slugs that are taken, gets those that are made
 * @returns the models, the one to ask first
 */
export function modelsOf(stages: Stages, author: string, name: string, taken: Set<string>): ImportedModel[] {
  const models: ImportedModel[] = [];
  for (const stage of stages) {
    const current = models.at(-1);
    const [only] = stage;
    const defaults = commonDefaults(stage);
    const isAlone = stage.length === 1;
    if (current && isAlone && JSON.stringify(current.defaults) === JSON.stringify(defaults)) {
      addEndpoint(current, (only as Stage[number]).leaf, undefined);
      continue;
    }
    const slug = freeSlug(author, models.length === 0 ? name : `${name}-${models.length + 1}`, taken);
    const model: ImportedModel = { slug, aliases: [], fallbacks: [], defaults, endpoints: [] };
    for (const { leaf, weight } of stage) addEndpoint(model, leaf, isAlone ? undefined : weight);
    models.push(model);
  }
  const [first, ...others] = models;
  if (first) first.fallbacks = others.map(({ slug }) => slug);
  return models;
}

/** The parameters that all leaves of a stage have: a model has the same for all of its endpoints. */
function commonDefaults(stage: Stage): Record<string, Written> {
  const [first, ...others] = stage.map(({ leaf }) => leaf.defaults);
  const isCommon = (name: string, value: Written) =>
    others.every((defaults) => JSON.stringify(defaults[name]) === JSON.stringify(value));
  return Object.fromEntries(Object.entries(first ?? {}).filter(([name, value]) => isCommon(name, value)));
}

/** An endpoint that is there already gets the sum of both weights. */
function addEndpoint({ endpoints }: ImportedModel, { endpoint }: Leaf, weight: number | undefined): void {
  const known = endpoints.find((one) => one.provider === endpoint.provider && one.model === endpoint.model);
  if (known === undefined) endpoints.push({ ...endpoint, weight: positive(weight) });
  else if (known.weight !== undefined && weight !== undefined) known.weight = positive(known.weight + weight);
}

/** A weight that the options take; undefined: none, so that the endpoint is tried behind the others. */
function positive(weight: number | undefined): number | undefined {
  return weight !== undefined && weight > 0 ? Math.min(1_000_000, Number(weight.toPrecision(6))) : undefined;
}

/** Tells whether leaves that share requests have different parameters. */
export function hasMixedDefaults(stages: Stages): boolean {
  return stages.some((stage) => new Set(stage.map(({ leaf }) => JSON.stringify(leaf.defaults))).size > 1);
}
