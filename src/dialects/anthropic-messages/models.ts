import type { StructuredOutput } from '../dialect.ts';
import { claudeName } from '../shared/claude-name.ts';
import { firstThinking, samplingOfClaude } from '../shared/sampling/claude.ts';
import type { RefusalRules } from '../shared/sampling/rules.ts';
import { bindsThoughts } from '../shared/thought-bindings.ts';
import type { MessagesQuirks } from './quirks.ts';

/** The amount that the model has to think and write, where it takes no budget. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The features that a model takes. Anthropic refuses a request with a field that the model does not know. */
export interface ModelTraits {
  /** The way in which it thinks; see the quirk of the same name. */
  thinking: NonNullable<MessagesQuirks['thinking']>;
  /** false: it always thinks. */
  canStopThinking: boolean;
  /** true: it can be told to think between calls of tools only. */
  thinksBetweenTools: boolean;
  /** true: it shows its thoughts only when asked to. */
  hidesThoughts: boolean;
  /** The efforts that it knows. */
  efforts: readonly Effort[];
  /** The fields for sampling that it refuses. */
  sampling: RefusalRules;
  /** true: it can be made to call a tool. */
  forcedTools: boolean;
  /** The way in which it is asked for output of a schema. */
  structuredOutput: StructuredOutput;
  /** true: it takes tools whose arguments follow their schema exactly. */
  strictTools: boolean;
  /** true: it takes instructions in the middle of a conversation. */
  laterInstructions: boolean;
  /** true: it searches the web by itself, where the request says that it may. */
  searchesWeb: boolean;
  /** true: it binds its thoughts to all messages before them. */
  bindsThoughts: boolean;
  /** true: it continues an assistant message at the end of the conversation. */
  prefill: boolean;
  /** A largest output that every model of its generation takes, in tokens. */
  maxTokens: number;
}

/**
 * Returns the features that a model takes, by its name. The names are Anthropic's own facts, and other hosts put
 * something before or behind them. A newer Claude counts as the newest known one; a model that is no Claude counts as
 * the plainest.
 * @see https://platform.claude.com/docs/en/about-claude/models/migration-guide
 */
export function traitsOf(upstreamModel: string, quirks: MessagesQuirks): ModelTraits {
  const name = claudeName(upstreamModel);
  const traits = name === null ? plainest : claudeTraits(name.family, name.version);
  // An organization has to allow it first at Google Cloud.
  const isGuarded = quirks.host === 'vertex' && traits.structuredOutput === 'native' && traits.forcedTools;
  const thinking = quirks.thinking ?? traits.thinking;
  const isSteered = thinking === 'adaptive' || thinking === 'either';
  // A model that the operator says thinks is held to the rules of one that does.
  const version = Math.max(name?.version ?? 0, thinking === 'none' ? 0 : firstThinking);
  return {
    ...traits,
    thinking,
    sampling: samplingOfClaude(version),
    efforts: isSteered && traits.efforts.length === 0 ? ['low', 'medium', 'high'] : traits.efforts,
    structuredOutput: quirks.structuredOutput ?? (isGuarded ? 'tool' : traits.structuredOutput),
    strictTools: traits.strictTools && !isGuarded,
    laterInstructions: traits.laterInstructions && quirks.host !== 'vertex',
    bindsThoughts: bindsThoughts(upstreamModel),
  };
}

/** Traits that the name alone tells. */
type NamedTraits = Omit<ModelTraits, 'bindsThoughts' | 'sampling'>;

const plainest: NamedTraits = {
  thinking: 'budget',
  canStopThinking: true,
  thinksBetweenTools: false,
  hidesThoughts: false,
  efforts: [],
  forcedTools: true,
  structuredOutput: 'tool',
  strictTools: false,
  laterInstructions: false,
  searchesWeb: false,
  prefill: true,
  maxTokens: 8_192,
};

function claudeTraits(family: string, version: number): NamedTraits {
  const isLargest = family === 'fable' || family === 'mythos';
  const isLate = version >= 505 && family !== 'haiku';
  return {
    thinking: version < 307 ? 'none' : version < 406 ? 'budget' : version < 407 ? 'either' : 'adaptive',
    canStopThinking: !isLargest && !isLate,
    thinksBetweenTools: family === 'sonnet' && version >= 505,
    hidesThoughts: version >= 407,
    efforts: effortsOf(family, version),
    forcedTools: !isLate && !(isLargest && version > 500),
    structuredOutput: version < 401 ? 'tool' : 'native',
    strictTools: version >= 401,
    laterInstructions: (version >= 408 && (family === 'opus' || isLargest)) || version >= 505,
    searchesWeb: version >= 305,
    prefill: version < 406,
    maxTokens: version < 305 ? 4_096 : version < 400 ? 8_192 : 32_000,
  };
}

/** @see https://platform.claude.com/docs/en/build-with-claude/effort */
function effortsOf(family: string, version: number): readonly Effort[] {
  if (version >= 407) return ['low', 'medium', 'high', 'xhigh', 'max'];
  if (version >= 406) return ['low', 'medium', 'high', 'max'];
  return family === 'opus' && version >= 405 ? ['low', 'medium', 'high'] : [];
}
