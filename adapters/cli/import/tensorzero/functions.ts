import type { Written } from '../../config-source.ts';
import { isMapping, listOf, type Mapping, mappingOf, memberOf, numberOf, textOf, textsOf } from '../mapping.ts';
import type { Report } from '../report.ts';
import { hasMixedDefaults, inOrder, type Stages, shared } from '../stages.ts';

/** Members of a function or a variant that hold prompts, schemas or tools: the client sends these here. */
const prompts =
  /^(?:system_|user_|assistant_|output_)?(?:schema|schemas|template|templates)$|^system_instructions$|^(?:tools|tool_choice|input_wrappers)$/;

/**
 * The plan of a function without prompts, schemas and tools: its variants share requests.
 * @param stagesOfModel  the stages of a model by its name; none where it is not served
 * @returns null: it has a counterpart only in the client; the report says what
 */
export function stagesOfFunction(
  given: Mapping,
  path: string,
  report: Report,
  stagesOfModel: (name: string, where: string) => Stages,
): Stages | null {
  const variants = Object.entries(mappingOf(given, 'variants')).filter((entry): entry is [string, Mapping] =>
    isMapping(entry[1]),
  );
  const inClient = [given, ...variants.map(([, variant]) => variant)].flatMap((holder) =>
    Object.keys(holder).filter((name) => prompts.test(name)),
  );
  const type = textOf(given, 'type') ?? 'chat';
  if (inClient.length > 0 || type !== 'chat') {
    const what = type === 'chat' ? [...new Set(inClient)].join(', ') : 'the schema of its response';
    report.problem(
      path,
      `has ${what}, which the client sends here`,
      'Let clients send messages, tools and response_format, and ask for the model of a variant.',
    );
    // The models that it asks are there for clients.
    for (const [name, variant] of variants) {
      const model = textOf(variant, 'model');
      if (model !== undefined) stagesOfModel(model, `${path}.variants.${name}.model`);
    }
    return null;
  }
  const plans = new Map<string, Stages>();
  for (const [name, variant] of variants) {
    const stages = stagesOfVariant(variant, `${path}.variants.${name}`, report, stagesOfModel);
    if (stages.length > 0) plans.set(name, stages);
  }
  return plannedBy(given, path, variants, plans, report);
}

function plannedBy(
  given: Mapping,
  path: string,
  variants: readonly [string, Mapping][],
  plans: ReadonlyMap<string, Stages>,
  report: Report,
): Stages {
  const experiment = mappingOf(given, 'experimentation');
  const type = textOf(experiment, 'type');
  if (type === 'adaptive' || type === 'track_and_stop')
    report.problem(
      `${path}.experimentation`,
      'learns from no feedback: variants share requests evenly',
      'Set weights.',
    );
  const weights = weightsOf(experiment, variants);
  const candidates = [...plans].flatMap(([name, stages]) => {
    const weight = weights.get(name) ?? 0;
    return weight > 0 ? [{ stages, weight }] : [];
  });
  const fallbacks = textsOf(experiment, 'fallback_variants').flatMap((name) => plans.get(name) ?? []);
  const { stages, isExact } = shared(candidates);
  if (!isExact)
    report.warning(
      path,
      'has variants whose models have several providers: the later ones are tried behind all variants',
    );
  const all = inOrder([stages, fallbacks]);
  if (hasMixedDefaults(all))
    report.warning(
      path,
      'has variants with different parameters that share requests, and only those that all have are kept',
      'Let clients send the others.',
    );
  return all;
}

function weightsOf(experiment: Mapping, variants: readonly [string, Mapping][]): Map<string, number> {
  const named = memberOf(experiment, 'candidate_variants');
  if (isMapping(named))
    return new Map(Object.keys(named).map((name) => [name, Math.max(0, numberOf(named, name) ?? 0)]));
  const fallbacks = new Set(textsOf(experiment, 'fallback_variants'));
  const listed = Array.isArray(named) ? textsOf(experiment, 'candidate_variants') : null;
  const own = variants.some(([, variant]) => numberOf(variant, 'weight') !== undefined);
  return new Map(
    variants.map(([name, variant]) => {
      if (listed !== null) return [name, listed.includes(name) ? 1 : 0];
      if (own) return [name, Math.max(0, numberOf(variant, 'weight') ?? 0)];
      return [name, fallbacks.has(name) ? 0 : 1];
    }),
  );
}

const known = new Set(['type', 'model', 'weight', 'retries', 'timeouts', 'json_mode', 'description']);

function stagesOfVariant(
  variant: Mapping,
  path: string,
  report: Report,
  stagesOfModel: (name: string, where: string) => Stages,
): Stages {
  const type = textOf(variant, 'type') ?? 'chat_completion';
  const model = textOf(variant, 'model');
  if (type !== 'chat_completion' || model === undefined) {
    const advice = /best_of_n|mixture_of_n/.test(type)
      ? 'Several models for one answer: docs/plugins/fusion.md.'
      : null;
    report.problem(path, 'is more than one request to a model, and is left out', advice);
    return [];
  }
  const defaults = defaultsOf(variant, path, report);
  return stagesOfModel(model, `${path}.model`).map((stage) =>
    stage.map(({ leaf, weight }) => ({ leaf: { ...leaf, defaults }, weight })),
  );
}

const sameNames = [
  'temperature',
  'top_p',
  'max_tokens',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'reasoning_effort',
  'verbosity',
] as const;

function defaultsOf(variant: Mapping, path: string, report: Report): Record<string, Written> {
  const defaults: Record<string, Written> = {};
  for (const [name, value] of Object.entries(variant)) {
    if (known.has(name)) continue;
    const isSame = (sameNames as readonly string[]).includes(name);
    if (isSame && (typeof value === 'number' || typeof value === 'string')) defaults[name] = value;
    else if (name === 'stop_sequences') defaults.stop = listOf(variant, name).filter((one) => typeof one === 'string');
    else if (name === 'thinking_budget_tokens' && typeof value === 'number') defaults.reasoning = { max_tokens: value };
    else report.warning(`${path}.${name}`, 'is not added to requests', 'Let clients send it.');
  }
  if (defaults.reasoning !== undefined) delete defaults.reasoning_effort;
  return defaults;
}
