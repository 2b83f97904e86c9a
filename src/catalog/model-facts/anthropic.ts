import { claudeName } from '../../dialects/shared/claude-name.ts';
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
  {
    name: 'Claude 4.1 to 4.6: temperature or top_p',
    isOf: claude((version) => version >= 401 && version < 407),
    oneOfSampling: true,
    asOf,
    source: migration,
  },
  {
    name: 'Claude 3.7 to 4.6, where they think',
    isOf: claude((version) => version >= 307 && version < 407),
    refusesThinking: ['temperature', 'top_p', 'top_k'],
    takes: { temperature: [1, 1], top_p: [0.95, 1] },
    noForcedTools: 'thinking',
    asOf,
    source: thinking,
  },
  {
    name: 'Claude 4.7 and later: no sampling',
    isOf: claude((version) => version >= 407),
    refuses: ['temperature', 'top_p', 'top_k'],
    asOf,
    source: migration,
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
