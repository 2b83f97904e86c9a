import { describe, expect, it } from 'vitest';
import { aiSdk } from '../../../../../src/dialects/ai-sdk/index.ts';
import { anthropicMessages } from '../../../../../src/dialects/anthropic-messages/index.ts';
import { bedrockConverse } from '../../../../../src/dialects/bedrock-converse/index.ts';
import { cohereChat } from '../../../../../src/dialects/cohere-chat/index.ts';
import type { Dialect } from '../../../../../src/dialects/dialect.ts';
import { googleGenerateContent } from '../../../../../src/dialects/google-generate-content/index.ts';
import { openaiChat } from '../../../../../src/dialects/openai-chat/index.ts';
import { openaiResponses } from '../../../../../src/dialects/openai-responses/index.ts';
import { saysContextIsFull } from '../../../../../src/dialects/shared/errors/full-context.ts';
import { cpuMs } from '../../../../support/cpu-time.ts';

/** As providers and servers have said it. */
const full: readonly [string, string][] = [
  [
    'OpenAI',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
  ],
  ['OpenAI, Responses', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [
    'OpenAI, GPT-5',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 281022 tokens.',
  ],
  [
    'OpenAI, completions',
    "This model's maximum context length is 4097 tokens, however you requested 6539 tokens (6283 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.",
  ],
  ['Anthropic', 'prompt is too long: 213462 tokens > 200000 maximum'],
  [
    'Anthropic with the output',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
  ],
  ['Google', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
  [
    'Google Vertex',
    'Unable to submit request because the input token count is 1100000 but model only supports up to 1048576. Reduce the input token count and try again.',
  ],
  ['Bedrock', 'Input is too long for requested model.'],
  [
    'Bedrock, Nova',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  ],
  ['Bedrock, Titan', 'Too many input tokens. Max input tokens: 42000, request input token count: 50000'],
  ['Bedrock, Llama', "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt"],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.'],
  [
    'Cohere with documents',
    "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.",
  ],
  ['Mistral', 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
  [
    'DeepSeek',
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
  ],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  ['Cerebras', 'Please reduce the length of the messages or completion. Current length is 8372 while limit is 8192'],
  ['Together', "The input (140000 tokens) is longer than the model's context length (131072 tokens)."],
  [
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 512 `max_new_tokens`',
  ],
  ['TGI, inputs alone', 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000'],
  ['Fireworks', 'The prompt is too long: 140000, model maximum context length: 131071'],
  [
    'vLLM',
    "This model's maximum context length is 16384 tokens. However, your request has 17000 input tokens. Please reduce the length of the input messages.",
  ],
  [
    'vLLM with the output',
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
  ],
  [
    'vLLM, the older engine',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
  ],
  [
    'SGLang',
    "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens.",
  ],
  ['llama.cpp', 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it'],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt (9800) is greater than the context length (8192).',
  ],
  [
    'LM Studio, the overflow',
    'Trying to keep the first 15000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ],
  ['LM Studio, short', 'Context size has been exceeded.'],
  ['Ollama', 'prompt too long; exceeded max context length by 1200 tokens'],
  ['Ollama, embedded', 'the input length exceeds the context length'],
  ['Alibaba', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]'],
  ['Moonshot', 'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)'],
  ['Z.ai', 'Prompt exceeds max length'],
  ['Z.ai in Chinese', 'Prompt 超长'],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
  ['SiliconFlow', 'length of prompt_tokens (40000) must be less than max_seq_len (32768).'],
  ['BytePlus', 'Total tokens of image and text exceed max message tokens.'],
  ['DeepInfra', 'Requested input length 40000 exceeds maximum input length 32768'],
  [
    'Cloudflare',
    'The estimated number of input and maximum output tokens (10000) exceeded this model context window limit (8192).',
  ],
  ['watsonx', 'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model'],
  ['NVIDIA', 'tokens in request more than max tokens allowed'],
  ['a proxy of editors', 'prompt token count of 130000 exceeds the limit of 128000'],
  [
    'a gateway',
    "This endpoint's maximum context length is 163840 tokens. However, you requested about 172900 tokens (4429 of text input, 4631 of tool input, 163840 in the output). Please reduce the length of either one",
  ],
  ['a gateway that names exceptions', 'litellm.ContextWindowExceededError: BadRequestError'],
  ['a gateway, input', 'The request exceeds the maximum allowed input length of 32768 tokens'],
];

/** What sounds like it. */
const other: readonly [string, string][] = [
  [
    'tokens per minute',
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.',
  ],
  ['a rate of tokens', 'Rate limit reached: too many tokens, try again in 3s'],
  ['throttling', 'Too many tokens, please wait before trying again.'],
  ['a quota', 'Too many tokens: the daily quota of input tokens is used up'],
  [
    'the largest output',
    'max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.',
  ],
  [
    'the largest output, Anthropic',
    'max_tokens: 200000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022',
  ],
  [
    'the largest output, Cohere',
    'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 5000.',
  ],
  [
    'the largest output, Google',
    'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
  ],
  ['thinking', '`max_tokens` must be greater than `thinking.budget_tokens`'],
  [
    'bytes of an image',
    'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
  ],
  ['pixels of an image', 'At least one of the image dimensions exceed max allowed size: 8000 pixels'],
  ['an image in the prompt', 'The prompt contains an image that exceeds the limit of 20 MB'],
  ['a body', 'Request exceeds the maximum allowed number of bytes.'],
  ['a payload', 'Request payload size exceeds the limit: 20971520 bytes.'],
  ['an entity', 'Request Entity Too Large'],
  [
    'a name',
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
  ],
  [
    'tools',
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
  ],
  ['pages', 'A maximum of 100 PDF pages may be provided.'],
  ['sound', 'Input audio is too long'],
  ['a field', 'context_management: Extra inputs are not permitted'],
  ['another field', "Unknown parameter: 'context_length'."],
  ['a cache', 'Cached content is too small. total_token_count=500, min_total_token_count=4096'],
];

describe('the words for a context that is full', () => {
  it.each(full)('of %s', (_, words) => {
    for (const status of [400, 413, 422, null]) expect(saysContextIsFull(status, undefined, words)).toBe(true);
    for (const status of [401, 404, 429, 500]) expect(saysContextIsFull(status, undefined, words)).toBe(false);
  });
  it.each(other)('are not those for %s', (_, words) => {
    for (const status of [400, 413, 422, null])
      expect(saysContextIsFull(status, 'invalid_request_error', words)).toBe(false);
  });
  it('may be a code alone, with any status but that of a rate', () => {
    for (const status of [400, 413, 500, 502, null])
      expect(saysContextIsFull(status, 'context_length_exceeded', 'No.')).toBe(true);
    expect(saysContextIsFull(429, 'context_length_exceeded', 'No.')).toBe(false);
    expect(saysContextIsFull(400, 'exceed_context_size_error', 'No.')).toBe(true);
  });
  it('are looked for in linear time', () => {
    const startedAt = cpuMs();
    for (const piece of ['input length ', 'maximum context ', 'exceeds the model ', 'prompt tokens ', 'a', '输入'])
      expect(saysContextIsFull(400, undefined, piece.repeat(200_000).slice(0, 200_000)).valueOf()).toBeTypeOf(
        'boolean',
      );
    expect(cpuMs() - startedAt).toBeLessThan(200);
  });
});

const words = 'prompt is too long: 213462 tokens > 200000 maximum';
const meaning = { status: 400, fault: 'caller', errorType: 'context_length_exceeded', message: words };
const dialects: readonly [Dialect, object][] = [
  [openaiChat, { error: { message: words } }],
  [openaiResponses, { error: { message: words } }],
  [anthropicMessages, { type: 'error', error: { type: 'invalid_request_error', message: words } }],
  [googleGenerateContent, { error: { code: 400, status: 'INVALID_ARGUMENT', message: words } }],
  [bedrockConverse, { message: words }],
  [cohereChat, { message: words }],
  [aiSdk, { error: { message: words } }],
] as readonly [Dialect, object][];

describe('a full context', () => {
  it.each(dialects.map(([dialect, body]) => [dialect.name, dialect, body] as const))(
    'is the same error in %s, whichever status it has',
    (_, dialect, body) => {
      for (const status of [400, 413, 422])
        expect(dialect.decodeError(status, {}, JSON.stringify(body), 0)).toMatchObject(meaning);
    },
  );
  it.each<[Dialect, string, object]>([
    [openaiChat as Dialect, '', { error: { message: words } }],
    [openaiChat as Dialect, '', { error: { message: words, code: 502 } }],
    [openaiResponses as Dialect, '', { type: 'error', code: null, message: words }],
    [
      openaiResponses as Dialect,
      '',
      { type: 'response.failed', response: { error: { code: 'server_error', message: words } } },
    ],
    [anthropicMessages as Dialect, '', { type: 'error', error: { type: 'invalid_request_error', message: words } }],
    [anthropicMessages as Dialect, '', { type: 'error', error: { type: 'a_new_error', message: words } }],
    [googleGenerateContent as Dialect, '', { error: { message: words } }],
    [cohereChat as Dialect, '', { type: 'message-end', delta: { error: words, finish_reason: 'ERROR' } }],
    [bedrockConverse as Dialect, 'validationException', { message: words }],
  ])('is the same inside a stream: %o', (dialect, name, event) => {
    const decoder = dialect.streamDecoder({});
    const [part] = decoder.decode(JSON.stringify(event), name);
    // A status that the event names is believed.
    const isOther = JSON.stringify(event).includes('502');
    const errorType = isOther ? 'provider_unavailable' : meaning.errorType;
    expect(part).toMatchObject({ kind: 'error', error: { ...(isOther ? {} : meaning), errorType } });
  });
  it('is found in what a gateway says of its provider', () => {
    const raw = JSON.stringify({ error: { message: words } });
    const body = { error: { message: 'Provider returned error', code: 400, metadata: { raw } } };
    expect(openaiChat.decodeError(400, {}, JSON.stringify(body), 0).errorType).toBe('context_length_exceeded');
  });
});
