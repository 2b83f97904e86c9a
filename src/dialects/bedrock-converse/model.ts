import { claudeName } from '../shared/claude-name.ts';
import { firstThinking, samplingOfClaude } from '../shared/sampling/claude.ts';
import type { RefusalRules } from '../shared/sampling/rules.ts';
import { bindsThoughts } from '../shared/thought-bindings.ts';

/** Authors of models that take different features, as model ids name them; Claude by its versions. */
export const families = [
  'claude-3',
  'claude-4',
  'claude-4.6',
  'claude-4.7',
  'claude-5.5',
  'nova',
  'nova-2',
  'openai',
  'gpt-oss',
  'mistral',
  'qwen',
  'deepseek',
  'moonshot',
  'minimax',
  'zai',
  'nvidia',
  'google',
  'meta',
  'cohere',
] as const;
export type Family = (typeof families)[number];

/** The features that a model takes beyond those of all models. */
export interface ModelTraits {
  /**
   * The way in which it is asked to reason:
   * - `budget`: Claude's `thinking` with a budget of tokens
   * - `adaptive`: Claude's `thinking` with an effort
   * - `nova`: Nova's `reasoningConfig`
   * - the others: an effort in the field of that name
   */
  reasoning: 'budget' | 'adaptive' | 'nova' | 'reasoning_effort' | 'reasoning' | 'reasoning_config' | null;
  /** true: it always reasons, even where it is asked not to. */
  alwaysReasons: boolean;
  /** true: it has the effort `xhigh`. */
  hasXhigh: boolean;
  /** The `format` of its reasoning on our wire. */
  reasoningFormat: 'anthropic-claude-v1' | 'unknown';
  /** The earlier reasoning that it takes back: reasoning that it has signed, any text, or none. */
  replay: 'signed' | 'plain' | null;
  /** The places where it takes marks of parts to cache. */
  caching: 'everywhere' | 'messages' | null;
  /** true: it takes `ttl: "1h"` of a mark. */
  longCaching: boolean;
  /** true: it takes `outputConfig`, and `strict` of tools. */
  nativeOutput: boolean;
  /** true: it can be made to call a tool; false: it refuses that; null: not known. */
  forcedTools: boolean | null;
  /** The field for one tool call at a time. */
  serialTools: boolean;
  /** The fields for sampling that it refuses. */
  sampling: RefusalRules;
  /** The place where it takes `top_k`. */
  topK: 'top_k' | 'inferenceConfig.topK' | null;
  /** true: it continues an assistant message at the end of the conversation. */
  prefill: boolean;
  /** true: it binds its thoughts to all messages before them. */
  bindsThoughts: boolean;
  /** true: it takes only ids of tool calls of nine letters and digits. */
  shortToolIds: boolean;
}

const plain: ModelTraits = {
  reasoning: null,
  alwaysReasons: false,
  hasXhigh: false,
  reasoningFormat: 'unknown',
  replay: null,
  caching: null,
  longCaching: false,
  nativeOutput: false,
  forcedTools: null,
  serialTools: false,
  sampling: { refusesThinking: ['temperature', 'top_p', 'top_k'] },
  topK: null,
  prefill: true,
  bindsThoughts: false,
  shortToolIds: false,
};

const claude: ModelTraits = {
  ...plain,
  reasoningFormat: 'anthropic-claude-v1',
  replay: 'signed',
  caching: 'everywhere',
  forcedTools: true,
  serialTools: true,
  topK: 'top_k',
};
const adaptive: ModelTraits = { ...claude, reasoning: 'adaptive', longCaching: true };
const newest: ModelTraits = {
  ...adaptive,
  hasXhigh: true,
  prefill: false,
};

/**
 * The features of models that reason between their tool calls and continue their earlier thoughts (`replay: 'plain'`).
 */
const thinker: ModelTraits = { ...plain, replay: 'plain' };

const traits: Readonly<Record<Family, ModelTraits>> = {
  'claude-3': { ...claude, caching: null, sampling: sampledAt(300) },
  'claude-4': { ...claude, reasoning: 'budget', sampling: sampledAt(400) },
  'claude-4.6': { ...adaptive, nativeOutput: true, prefill: false, sampling: sampledAt(406) },
  'claude-4.7': { ...newest, sampling: sampledAt(407) },
  'claude-5.5': { ...newest, alwaysReasons: true, forcedTools: false, sampling: sampledAt(505) },
  nova: { ...plain, caching: 'messages', forcedTools: true, topK: 'inferenceConfig.topK' },
  'nova-2': {
    ...plain,
    reasoning: 'nova',
    replay: 'plain',
    caching: 'messages',
    forcedTools: true,
    topK: 'inferenceConfig.topK',
  },
  openai: { ...plain, reasoning: 'reasoning', sampling: { refuses: ['temperature', 'top_p', 'stop'] }, hasXhigh: true },
  // Reasoning of gpt-oss that is sent back turns up in the next response.
  'gpt-oss': {
    ...plain,
    reasoning: 'reasoning_effort',
    alwaysReasons: true,
    nativeOutput: true,
    sampling: { ...plain.sampling, refuses: ['stop'] },
  },
  mistral: { ...plain, forcedTools: true, topK: 'top_k', shortToolIds: true },
  qwen: { ...thinker, reasoning: 'reasoning_config', nativeOutput: true },
  deepseek: plain,
  moonshot: thinker,
  minimax: { ...thinker, alwaysReasons: true },
  zai: thinker,
  nvidia: plain,
  google: plain,
  meta: plain,
  cohere: plain,
};

/** The features of models whose id names no family: a model that has signed its reasoning takes it back. */
const unknown: ModelTraits = { ...plain, replay: 'signed' };

/**
 * Models beside Claude whose responses can be kept to a schema.
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
const keepToSchema =
  /gemma-3|mistral-large-3|magistral-small|ministral-3|voxtral|nemotron-nano|deepseek\.v3|minimax-m2|kimi-k2/;

const authors: readonly [pattern: RegExp, family: Family][] = [
  [/nova-2/, 'nova-2'],
  [/amazon\.nova/, 'nova'],
  [/gpt-oss/, 'gpt-oss'],
  [/openai\./, 'openai'],
  [/mistral\./, 'mistral'],
  [/qwen\./, 'qwen'],
  [/deepseek\./, 'deepseek'],
  [/moonshot(?:ai)?\./, 'moonshot'],
  [/minimax\./, 'minimax'],
  [/zai\./, 'zai'],
  [/nvidia\./, 'nvidia'],
  [/google\./, 'google'],
  [/meta\./, 'meta'],
  [/cohere\./, 'cohere'],
];

/**
 * Returns the features that a model takes, by its id.
 * @param upstreamModel  an id, with or without the prefix of an inference profile, or an ARN
 * @param otherwise      the family of an id that names none
 */
export function traitsOf(upstreamModel: string, otherwise: Family | undefined): ModelTraits {
  const id = upstreamModel.toLowerCase();
  const family = familyIn(id) ?? otherwise;
  if (family === undefined) return unknown;
  const named = claudeName(id);
  const known = {
    ...traits[family],
    ...(named === null ? {} : { sampling: sampledAt(named.version) }),
    bindsThoughts: bindsIts(id, family),
  };
  if (family === 'claude-3') return /claude-3-5/.test(id) ? { ...known, caching: 'everywhere' } : known;
  if (family === 'claude-4') return { ...known, ...traitsOfClaude4(id) };
  return keepToSchema.test(id) ? { ...known, nativeOutput: true } : known;
}

/** true: the model binds its thoughts. An id that names no Claude has only its family to tell it. */
function bindsIts(id: string, family: Family): boolean {
  return bindsThoughts(id) || (family === 'claude-5.5' && !id.includes('claude'));
}

/** Returns the features of Claude 4. Between 4 and 4.6, Claude learnt to keep to a schema and to cache for an hour. */
function traitsOfClaude4(id: string): Partial<ModelTraits> {
  if (/claude-(?:opus|sonnet|haiku)-4-5/.test(id)) return { longCaching: true, nativeOutput: true };
  return {};
}

/** The rules of a Claude, by its version. */
function sampledAt(version: number): RefusalRules {
  return samplingOfClaude(version, 'bedrock');
}

function familyIn(id: string): Family | null {
  if (id.includes('claude')) return claudeFamily(id);
  return authors.find(([pattern]) => pattern.test(id))?.[1] ?? null;
}

/** Returns the family of a Claude. */
function claudeFamily(id: string): Family {
  const { family, version } = claudeName(id) ?? { family: '', version: Number.POSITIVE_INFINITY };
  if (version < firstThinking) return 'claude-3';
  if (version < 406) return 'claude-4';
  if (version < 407) return 'claude-4.6';
  // Fable has reasoned in each response from its first version on.
  return version < 505 && family !== 'fable' ? 'claude-4.7' : 'claude-5.5';
}
