import type { RefusalRules } from './rules.ts';

/** A row: what a Claude takes of the fields for sampling, by its version. */
export interface ClaudeSampling extends RefusalRules {
  name: string;
  /** The first version that it holds for, such as 401 for 4.1, and the first one behind it. */
  from: number;
  to: number;
  /** The only service for which the row holds. */
  at?: 'bedrock';
  /** The day on which the row was last compared with its source. */
  asOf: string;
  /** The page that says so. */
  source: string;
}

const asOf = '2026-11-27';
const migration = 'https://platform.claude.com/docs/en/about-claude/models/migration-guide';

/** The first version that can think. */
export const firstThinking = 307;

/**
 * The rows, for every dialect in which somebody serves a Claude. Of rows that hold for one version, the last one counts
 * that says something.
 */
export const claudeSampling: readonly ClaudeSampling[] = [
  {
    name: 'Claude 4.1 to 4.6: temperature or top_p',
    from: 401,
    to: 407,
    oneOfSampling: true,
    asOf,
    source: migration,
  },
  {
    name: 'Claude 3.7 to 4.6, where they think',
    from: firstThinking,
    to: 407,
    refusesThinking: ['temperature', 'top_p', 'top_k'],
    takes: { temperature: [1, 1], top_p: [0.95, 1] },
    asOf,
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
  },
  {
    name: 'Claude 3.7 to 4.6 at Bedrock, where they think',
    from: firstThinking,
    to: 407,
    at: 'bedrock',
    takes: {},
    asOf,
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html',
  },
  {
    name: 'Claude 4.7 and later: no sampling',
    from: 407,
    to: Number.POSITIVE_INFINITY,
    refuses: ['temperature', 'top_p', 'top_k'],
    asOf,
    source: migration,
  },
];

/** Returns what holds for a version, at the service. */
export function samplingOfClaude(version: number, at?: 'bedrock'): RefusalRules {
  const joined: RefusalRules = {};
  for (const { name: _, from, to, at: only, asOf: __, source: ___, ...rules } of claudeSampling)
    if (version >= from && version < to && (only === undefined || only === at)) Object.assign(joined, rules);
  return joined;
}
