import { claudeName } from '../../dialects/shared/claude-name.ts';
import { claudeSampling, firstThinking } from '../../dialects/shared/sampling/claude.ts';
import type { ModelFact } from './fact.ts';

const asOf = '2026-11-27';
const migration = 'https://platform.claude.com/docs/en/about-claude/models/migration-guide';
const thinking = 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking';

const claude = (isOf: (version: number, family: string) => boolean) => (model: string) => {
  const name = claudeName(model);
  return name !== null && isOf(name.version, name.family);
};

/** Facts of Claude, also behind services that speak another dialect. */
export const anthropicFacts: readonly ModelFact[] = [
  {
    name: 'Claude: no sampling but its own',
    isOf: claude(() => true),
    refuses: [
      'frequency_penalty',
      'presence_penalty',
      'repetition_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'seed',
      'min_p',
      'top_a',
    ],
    asOf,
    source: 'https://platform.claude.com/docs/en/api/messages/create',
  },
  // The dialects of Anthropic and of Bedrock read the same rows, with the rest of what they know of a request.
  ...claudeSampling
    .filter(({ at }) => at === undefined)
    .map(({ from, to, at: _, ...row }) => ({ ...row, isOf: claude((version) => version >= from && version < to) })),
  {
    name: 'Claude 3.7 to 4.6, where they think: no forced tools',
    isOf: claude((version) => version >= firstThinking && version < 407),
    noForcedTools: 'thinking',
    asOf,
    source: thinking,
  },
  {
    name: 'Claude 5.5 and later: no forced tools',
    isOf: claude(
      (version, family) =>
        (version >= 505 && family !== 'haiku') || ((family === 'fable' || family === 'mythos') && version > 500),
    ),
    noForcedTools: 'always',
    asOf,
    source: migration,
  },
];
