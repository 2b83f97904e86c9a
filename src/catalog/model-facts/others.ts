import type { ModelFact } from './fact.ts';

const asOf = '2026-11-27';

/** The version of a model in hundreds behind its name, such as 205 of `kimi-k2.5`; 0: the name says none. */
function versionBehind(model: string, name: RegExp): number {
  const [, major = '0', minor = '0'] =
    new RegExp(`${name.source}(\\d{1,2})(?:[.p-](\\d{1,2})(?!\\d))?`).exec(model) ?? [];
  return Number(major) * 100 + Number(minor);
}

const gemini = (from: number, to: number) => (model: string) => {
  const version = versionBehind(model, /^gemini-/);
  return version >= from && version < to && !/-(?:image|tts|live|audio)(?:-|$)/.test(model);
};
const isPro = (model: string): boolean => /-pro(?:-|$)/.test(model);
const grok = (model: string): number => versionBehind(model, /^grok-/);
const isGrokThinking = (model: string): boolean =>
  (grok(model) >= 400 || /^grok-(?:3-mini|code)/.test(model)) && !model.includes('non-reasoning');
const noEffort = /^grok-(?:4(?:-\d{4}|-latest|[.-]1(?!\d).*|-fast.*)?|3(?!-mini).*|code.*)$/;
const isKimiFixed = (model: string): boolean => versionBehind(model, /^kimi-k/) >= 205;
const magistral = /^magistral/;
const isQwenThinking = (model: string): boolean => /^(?:qwq|qvq)|^qwen.*-thinking/.test(model);

/**
 * Facts of models of other authors. Where others serve the same weights by their own rules, a row names the
 * provider whose rules these are.
 */
export const otherFacts: readonly ModelFact[] = [
  {
    name: 'Gemini 2.5 pro: always thinks',
    isOf: (model) => gemini(205, 206)(model) && isPro(model),
    thinks: 'always',
    efforts: ['minimal', 'low', 'medium', 'high'],
    asOf,
    source: 'https://ai.google.dev/gemini-api/docs/openai#thinking',
  },
  {
    name: 'Gemini 2.5 flash',
    isOf: (model) => gemini(205, 206)(model) && !isPro(model),
    thinks: 'unless_off',
    efforts: ['none', 'minimal', 'low', 'medium', 'high'],
    asOf,
    source: 'https://ai.google.dev/gemini-api/docs/openai#thinking',
  },
  {
    name: 'Gemini 3 pro: two levels',
    isOf: (model) => gemini(300, 301)(model) && isPro(model),
    thinks: 'always',
    efforts: ['low', 'high'],
    asOf,
    source: 'https://ai.google.dev/gemini-api/docs/thinking#thinking-levels',
  },
  {
    name: 'Gemini 3.1 pro and later: three levels',
    isOf: (model) => gemini(301, 9999)(model) && isPro(model),
    thinks: 'always',
    efforts: ['low', 'medium', 'high'],
    asOf,
    source: 'https://ai.google.dev/gemini-api/docs/thinking#thinking-levels',
  },
  {
    name: 'Gemini 3 flash: four levels',
    isOf: (model) => gemini(300, 307)(model) && !isPro(model),
    thinks: 'always',
    efforts: ['minimal', 'low', 'medium', 'high'],
    asOf,
    source: 'https://ai.google.dev/gemini-api/docs/thinking#thinking-levels',
  },
  {
    name: 'DeepSeek reasoner',
    isOf: (model) => /^deepseek-reasoner/.test(model),
    refuses: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs', 'top_logprobs'],
    thinks: 'always',
    asOf,
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
  },
  {
    name: 'DeepSeek, where it thinks',
    isOf: (model) => /^deepseek-(?:chat|v)/.test(model),
    at: ['deepseek'],
    refusesThinking: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs', 'top_logprobs'],
    asOf,
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
  },
  {
    name: 'Grok, where it thinks',
    isOf: isGrokThinking,
    refuses: ['frequency_penalty', 'presence_penalty', 'stop'],
    thinks: 'always',
    asOf,
    source: 'https://docs.x.ai/docs/guides/reasoning',
  },
  {
    name: 'Grok without effort',
    isOf: (model) => noEffort.test(model),
    refuses: ['reasoning'],
    asOf,
    source: 'https://docs.x.ai/docs/guides/reasoning',
  },
  {
    name: 'Grok 3 mini: two efforts',
    isOf: (model) => /^grok-3-mini/.test(model),
    efforts: ['low', 'high'],
    asOf,
    source: 'https://docs.x.ai/docs/guides/reasoning',
  },
  {
    name: 'Grok 4.3: four efforts',
    isOf: (model) => grok(model) === 403,
    efforts: ['none', 'low', 'medium', 'high'],
    asOf,
    source: 'https://docs.x.ai/developers/model-capabilities/text/reasoning',
  },
  {
    name: 'Grok 4.5 and later: cannot stop thinking',
    isOf: (model) => grok(model) >= 405 && grok(model) < 420,
    thinks: 'always',
    efforts: ['low', 'medium', 'high'],
    asOf,
    source: 'https://docs.x.ai/developers/model-capabilities/text/reasoning',
  },
  {
    name: 'Kimi K2.5 and later: fixed sampling',
    isOf: isKimiFixed,
    at: ['moonshotai'],
    refuses: ['temperature', 'top_p', 'n', 'frequency_penalty', 'presence_penalty'],
    thinks: 'unless_off',
    noForcedTools: 'thinking',
    asOf,
    source: 'https://platform.kimi.ai/docs/api/models-overview',
  },
  {
    name: 'Kimi K2 thinking',
    isOf: (model) => /^kimi-k2-thinking/.test(model),
    at: ['moonshotai'],
    thinks: 'always',
    noForcedTools: 'thinking',
    asOf,
    source: 'https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model',
  },
  {
    name: 'Magistral: thinks by itself',
    isOf: (model) => magistral.test(model),
    at: ['mistral'],
    refuses: ['reasoning'],
    thinks: 'always',
    asOf,
    source: 'https://docs.mistral.ai/studio-api/conversations/reasoning',
  },
  {
    name: 'Mistral small and medium: two efforts',
    isOf: (model) => /^mistral-(?:small-(?:latest|26)|medium-3-5)/.test(model),
    at: ['mistral'],
    efforts: ['none', 'high'],
    asOf,
    source: 'https://docs.mistral.ai/studio-api/conversations/reasoning',
  },
  {
    name: 'Qwen that always thinks: streams only',
    isOf: isQwenThinking,
    at: ['alibaba'],
    thinks: 'always',
    streamsOnly: 'always',
    noForcedTools: 'thinking',
    asOf,
    source: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
  },
  {
    name: 'Qwen 3 of open weights, where it thinks: streams only',
    isOf: (model) => /^qwen3-\d/.test(model) && !isQwenThinking(model),
    at: ['alibaba'],
    thinks: 'unless_off',
    streamsOnly: 'thinking',
    noForcedTools: 'thinking',
    asOf,
    source: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
  },
  {
    name: 'GLM: tools by its own choice, one stop text',
    isOf: (model) => /^glm-/.test(model),
    at: ['z-ai'],
    refuses: [
      'frequency_penalty',
      'presence_penalty',
      'repetition_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'seed',
      'n',
    ],
    noForcedTools: 'always',
    mostStops: 1,
    asOf,
    source: 'https://docs.z.ai/api-reference/llm/chat-completion',
  },
];
