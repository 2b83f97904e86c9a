import type { DialectName } from '../../test/support/dialects.ts';
import { awsFrame, sse } from './frames.ts';
import { responsesEvents } from './openai-responses.ts';
import type { Response } from './response.ts';

/** Writes the events of a response as its provider does, each in a frame of its own. */
export type Wire = (response: Response) => Buffer[];

const signature =
  'EpEgCo4gAb4+9vvWwdN+NkNiCCwrqvFI8uf9IiD2A47Bm4Sga0kUTm4e/QuEnsZnNuSXJaINVVvcoApg6YCzMYcXrBNlwWW71iY4l9==';

/** Of every dialect. */
export const wires: Record<DialectName, Wire> = {
  'openai-chat': chatEvents,
  'anthropic-messages': messagesEvents,
  'google-generate-content': googleEvents,
  'bedrock-converse': converseEvents,
  'openai-responses': responsesEvents,
  'cohere-chat': cohereEvents,
  'ai-sdk': partsEvents,
};

/** As servers write it that stream reasoning. */
function chatEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  const head = {
    id: 'chatcmpl-BeNcHmArK0123456789abcdef',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench-model-2026-08-06',
    system_fingerprint: 'fp_be9c4a1d20',
  };
  const chunk = (delta: object, reason: string | null = null) =>
    sse({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }], usage: null });
  const called = { index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  return [
    chunk({ role: 'assistant', content: null, reasoning_content: '' }),
    ...thoughts.map((text) => chunk({ content: null, reasoning_content: text })),
    ...texts.map((text) => chunk({ content: text, reasoning_content: null })),
    chunk({ tool_calls: [called] }),
    ...call.arguments.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chunk({ content: '', reasoning_content: null }, 'tool_calls'),
    sse({
      ...head,
      choices: [],
      usage: {
        prompt_tokens: usage.prompt,
        completion_tokens: usage.completion,
        total_tokens: usage.prompt + usage.completion,
        prompt_tokens_details: { cached_tokens: usage.cached },
        completion_tokens_details: { reasoning_tokens: usage.reasoning },
      },
    }),
    sse('[DONE]'),
  ];
}

function messagesEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  const event = (type: string, fields: object) => sse({ type, ...fields }, type);
  const block = (index: number, start: object, deltas: readonly object[]) => [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const counts = {
    input_tokens: usage.prompt - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: 2,
    service_tier: 'standard',
  };
  const message = {
    id: 'msg_01SZKz6DEhWnfZcxPQDQz49Y',
    type: 'message',
    role: 'assistant',
    model: 'bench-model-20260806',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: counts,
  };
  return [
    event('message_start', { message }),
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
      ...thoughts.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature },
    ]),
    event('ping', {}),
    ...block(
      1,
      { type: 'text', text: '' },
      texts.map((text) => ({ type: 'text_delta', text })),
    ),
    ...block(
      2,
      { type: 'tool_use', id: call.id, name: call.name, input: {} },
      call.arguments.map((text) => ({ type: 'input_json_delta', partial_json: text })),
    ),
    event('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { ...counts, output_tokens: usage.completion },
    }),
    event('message_stop', {}),
  ];
}

/** Each event reports the usage so far. A call comes at once. Lines end as Google ends them. */
function googleEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  const event = (part: object, more: object = {}) => {
    const data = {
      candidates: [{ content: { parts: [part], role: 'model' }, index: 0, ...more }],
      usageMetadata: {
        promptTokenCount: usage.prompt,
        candidatesTokenCount: usage.completion - usage.reasoning,
        totalTokenCount: usage.prompt + usage.completion,
        cachedContentTokenCount: usage.cached,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.prompt }],
        thoughtsTokenCount: usage.reasoning,
      },
      modelVersion: 'bench-model',
      responseId: 'bH6LaZW8Fp_3nsEPqtaSwQ4',
    };
    return sse(data, undefined, '\r\n');
  };
  const args = JSON.parse(call.arguments.join(''));
  return [
    ...thoughts.map((text) => event({ text, thought: true })),
    ...texts.map((text) => event({ text })),
    event({ functionCall: { id: call.id, name: call.name, args }, thoughtSignature: signature }),
    event({ text: '' }, { finishReason: 'STOP' }),
  ];
}

function converseEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  let events = 0;
  /** Frames are padded, so that their length does not tell what they hold. */
  const event = (name: string, fields: object) =>
    awsFrame(name, {
      ...fields,
      p: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123'.slice(0, 4 + ((events++ * 7) % 50)),
    });
  const delta = (contentBlockIndex: number, fields: object) =>
    event('contentBlockDelta', { contentBlockIndex, delta: fields });
  const stop = (contentBlockIndex: number) => event('contentBlockStop', { contentBlockIndex });
  return [
    event('messageStart', { role: 'assistant' }),
    ...thoughts.map((text) => delta(0, { reasoningContent: { text } })),
    delta(0, { reasoningContent: { signature } }),
    stop(0),
    ...texts.map((text) => delta(1, { text })),
    stop(1),
    event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { name: call.name, toolUseId: call.id } } }),
    ...call.arguments.map((input) => delta(2, { toolUse: { input } })),
    stop(2),
    event('messageStop', { stopReason: 'tool_use' }),
    event('metadata', {
      metrics: { latencyMs: 2040 },
      usage: {
        inputTokens: usage.prompt - usage.cached,
        outputTokens: usage.completion,
        totalTokens: usage.prompt + usage.completion,
        cacheReadInputTokens: usage.cached,
        cacheWriteInputTokens: 0,
      },
    }),
  ];
}

function cohereEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  const event = (type: string, fields: object = {}) => sse({ type, ...fields }, type);
  const content = (type: string, index: number, value: object) =>
    event(type, { index, delta: { message: { content: value } } });
  const called = (type: string, value: object) => event(type, { index: 0, delta: { message: { tool_calls: value } } });
  const tokens = { input_tokens: usage.prompt, output_tokens: usage.completion };
  return [
    sse(
      {
        id: '321d178c-2c12-44d3-ae42-2f5510f6b1cc',
        type: 'message-start',
        delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
      },
      'message-start',
    ),
    content('content-start', 0, { type: 'thinking', thinking: '' }),
    ...thoughts.map((thinking) => content('content-delta', 0, { thinking })),
    event('content-end', { index: 0 }),
    content('content-start', 1, { type: 'text', text: '' }),
    ...texts.map((text) => content('content-delta', 1, { text })),
    event('content-end', { index: 1 }),
    called('tool-call-start', { id: call.id, type: 'function', function: { name: call.name, arguments: '' } }),
    ...call.arguments.map((text) => called('tool-call-delta', { function: { arguments: text } })),
    event('tool-call-end', { index: 0 }),
    event('message-end', {
      delta: {
        finish_reason: 'TOOL_CALL',
        usage: { billed_units: tokens, tokens, cached_tokens: usage.cached },
      },
    }),
  ];
}

/** As a language model of the AI SDK in this process gives it. */
function partsEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  const block = (kind: string, id: string, deltas: readonly string[]) => [
    sse({ type: `${kind}-start`, id }),
    ...deltas.map((delta) => sse({ type: `${kind}-delta`, id, delta })),
    sse({ type: `${kind}-end`, id }),
  ];
  const { id, name: toolName } = call;
  return [
    sse({ type: 'stream-start', warnings: [] }),
    sse({
      type: 'response-metadata',
      id: 'chatcmpl-BeNcHmArK0123456789abcdef',
      modelId: 'bench-model-2026-08-06',
      timestamp: '2026-08-06T12:00:00.000Z',
    }),
    ...block('reasoning', 'reasoning-0', thoughts),
    ...block('text', 'txt-0', texts),
    sse({ type: 'tool-input-start', id, toolName }),
    ...call.arguments.map((delta) => sse({ type: 'tool-input-delta', id, delta })),
    sse({ type: 'tool-input-end', id }),
    sse({ type: 'tool-call', toolCallId: id, toolName, input: call.arguments.join('') }),
    sse({
      type: 'finish',
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage: {
        inputTokens: { total: usage.prompt, noCache: usage.prompt - usage.cached, cacheRead: usage.cached },
        outputTokens: {
          total: usage.completion,
          text: usage.completion - usage.reasoning,
          reasoning: usage.reasoning,
        },
      },
    }),
  ];
}
