import type { ModelFact } from './fact.ts';

const asOf = '2026-11-27';
const reasoning = 'https://platform.openai.com/docs/guides/reasoning';
const latest = 'https://platform.openai.com/docs/guides/latest-model';
const reference = 'https://platform.openai.com/docs/api-reference/chat/create';

const sampling = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
] as const;

/** The version of a GPT in hundreds, so that 504 is 5.4; null: it is none, or older than 5. */
function gptVersion(model: string): number | null {
  const [, major, minor = '0'] = /^gpt-?([5-9]|[12]\d)(?:[.-](\d)(?!\d))?(?![\da-z])/.exec(model) ?? [];
  return major === undefined ? null : Number(major) * 100 + Number(minor);
}

const isChat = (model: string): boolean => /-chat(?:-|$)/.test(model);
/** Models that cannot be kept from thinking, or think by default whatever their version does. */
const isSpecial = (model: string): boolean => /-(?:pro|codex|max)(?:-|$)/.test(model);
const isGpt = (from: number, to: number) => (model: string) => {
  const version = gptVersion(model);
  return version !== null && version >= from && version < to && !isChat(model);
};

/** Facts of OpenAI's models. The open-weight ones, gpt-oss, take what their servers take. */
export const openaiFacts: readonly ModelFact[] = [
  {
    name: 'OpenAI: no sampling but its own',
    isOf: (model) => /^(?:gpt-?[3-9]|chatgpt-|o[134](?:-|$)|codex-)/.test(model),
    refuses: ['top_k', 'min_p', 'top_a', 'repetition_penalty'],
    asOf,
    source: reference,
  },
  {
    name: 'OpenAI: o1-mini, o1-preview',
    isOf: (model) => /^o1-(?:mini|preview)/.test(model),
    refuses: [...sampling, 'stop', 'parallel_tool_calls', 'reasoning'],
    thinks: 'always',
    instructions: 'user',
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: reasoning,
  },
  {
    name: 'OpenAI: o1',
    isOf: (model) => /^o1(?:-(?!mini|preview)|$)/.test(model),
    refuses: [...sampling, 'parallel_tool_calls'],
    thinks: 'always',
    efforts: ['low', 'medium', 'high'],
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: reasoning,
  },
  {
    name: 'OpenAI: o3, o4',
    isOf: (model) => /^o[34](?:-|$)/.test(model),
    refuses: [...sampling, 'stop', 'parallel_tool_calls'],
    thinks: 'always',
    efforts: ['low', 'medium', 'high'],
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: reference,
  },
  {
    name: 'OpenAI: GPT-5',
    isOf: (model) => isGpt(500, 501)(model) && !isSpecial(model),
    refuses: [...sampling, 'stop'],
    thinks: 'always',
    efforts: ['minimal', 'low', 'medium', 'high'],
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: GPT-5.1 to 5.4, where they think',
    isOf: (model) => isGpt(501, 505)(model) && !isSpecial(model),
    refuses: ['stop', 'frequency_penalty', 'presence_penalty', 'logit_bias'],
    refusesThinking: ['temperature', 'top_p', 'logprobs', 'top_logprobs'],
    thinks: 'if_asked',
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: GPT-5.1',
    isOf: (model) => isGpt(501, 502)(model) && !isSpecial(model),
    efforts: ['none', 'low', 'medium', 'high'],
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: GPT-5.2 to 5.5',
    isOf: (model) => isGpt(502, 506)(model) && !isSpecial(model),
    efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: GPT-5.5 and later',
    isOf: (model) => isGpt(505, Number.POSITIVE_INFINITY)(model) && !isSpecial(model),
    refuses: [...sampling, 'stop'],
    thinks: 'unless_off',
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: pro and codex',
    isOf: (model) => (isGpt(500, Number.POSITIVE_INFINITY)(model) && isSpecial(model)) || /^codex-mini/.test(model),
    refuses: [...sampling, 'stop'],
    thinks: 'always',
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: latest,
  },
  {
    name: 'OpenAI: GPT-5 pro',
    isOf: (model) => isGpt(500, 501)(model) && /-pro(?:-|$)/.test(model),
    efforts: ['high'],
    asOf,
    source: 'https://platform.openai.com/docs/models/gpt-5-pro',
  },
  {
    name: 'OpenAI: GPT-5.2 pro and later',
    isOf: (model) => isGpt(502, 505)(model) && /-pro(?:-|$)/.test(model),
    efforts: ['medium', 'high', 'xhigh'],
    asOf,
    source: 'https://platform.openai.com/docs/models/gpt-5.2-pro',
  },
  {
    name: 'OpenAI: GPT-5.1 chat and later',
    isOf: (model) => (gptVersion(model) ?? 0) >= 501 && isChat(model),
    refuses: [...sampling, 'stop'],
    thinks: 'unless_off',
    maxTokensField: 'max_completion_tokens',
    asOf,
    source: 'https://platform.openai.com/docs/models/gpt-5.2-chat-latest',
  },
];
