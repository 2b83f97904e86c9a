import type { Transport } from '../../src/transport/transport.ts';
import { eventFrame } from './converse-wire.ts';

type Json = Record<string, unknown>;

/** What a response is made of, in order. Each thought, and each call, has something that only its provider can read. */
export type Said = readonly ('thought' | 'text' | Called)[];
/** `namespace`: the group of the tool, where the wire format has groups. */
interface Called {
  call: string;
  namespace?: string;
  input: Json;
}

/** How a wire format writes responses, and what of a request may only grow. No code of the gateway is in it. */
interface Format {
  complete(said: Said, number: number): Json;
  stream(said: Said, number: number): Uint8Array;
  /** What stands before all messages. */
  head(body: Json): unknown;
  messages(body: Json): unknown[];
}

/** What nobody but the provider can read, of a part of a response. */
export const sealOf = (number: number, at: number): string => Buffer.from(`sealed ${number} ${at}`).toString('base64');
const thoughtOf = (number: number, at: number) => `thought ${number}.${at}`;
const textOf = (number: number, at: number) => ` said "${number}.${at}"\n`;
const callIdOf = (number: number, at: number) => `call_${number}_${at}`;
/** Arguments as a model writes them: with spaces of its own. */
const written = (input: Json) => JSON.stringify(input, null, 1);
const isCall = (one: Said[number]): one is Called => typeof one === 'object';
const cut = (text: string) => text.match(/.{1,6}/gs) ?? [];
const frames = (events: readonly (Json | string)[]) =>
  new TextEncoder().encode(
    events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''),
  );

const chatUsage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const chatHead = (number: number) => ({ id: `chatcmpl-${number}`, created: 1, model: 'm' });

/** With `reasoning_details`, as servers send them that want them back. */
const openaiChat: Format = {
  complete(said, number) {
    const calls = said.flatMap((one, at) =>
      isCall(one)
        ? [{ id: callIdOf(number, at), type: 'function', function: { name: one.call, arguments: written(one.input) } }]
        : [],
    );
    const message = {
      role: 'assistant',
      content: said.map((one, at) => (one === 'text' ? textOf(number, at) : '')).join('') || null,
      reasoning: said.map((one, at) => (one === 'thought' ? thoughtOf(number, at) : '')).join(''),
      reasoning_details: said.flatMap((one, at) => (one === 'thought' ? [chatDetail(number, at)] : [])),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    return {
      ...chatHead(number),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage: chatUsage,
    };
  },
  stream(said, number) {
    const head = { ...chatHead(number), object: 'chat.completion.chunk' };
    const chunk = (delta: Json, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason }],
    });
    let index = -1;
    const events = said.flatMap((one, at) => {
      if (one === 'text') return cut(textOf(number, at)).map((content) => chunk({ content }));
      if (one === 'thought')
        return [chunk({ reasoning: thoughtOf(number, at), reasoning_details: [chatDetail(number, at)] })];
      index++;
      const begin = { index, id: callIdOf(number, at), type: 'function', function: { name: one.call, arguments: '' } };
      return [
        chunk({ tool_calls: [begin] }),
        ...cut(written(one.input)).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
      ];
    });
    const end = chunk({}, index >= 0 ? 'tool_calls' : 'stop');
    return frames([...events, end, { ...head, choices: [], usage: chatUsage }, '[DONE]']);
  },
  head: ({ tools }) => tools,
  messages: ({ messages }) => messages as unknown[],
};

function chatDetail(number: number, at: number): Json {
  return {
    type: 'reasoning.text',
    text: thoughtOf(number, at),
    signature: sealOf(number, at),
    format: 'anthropic-claude-v1',
    index: at,
  };
}

const googleParts = (said: Said, number: number): Json[] =>
  said.flatMap((one, at): Json[] => {
    if (one === 'thought') return [{ text: thoughtOf(number, at), thought: true }];
    const thoughtSignature = sealOf(number, at);
    if (one === 'text') return [{ text: textOf(number, at), thoughtSignature }];
    return [{ functionCall: { name: one.call, args: one.input }, thoughtSignature }];
  });
const googleEvent = (parts: readonly Json[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
});

const googleGenerateContent: Format = {
  complete: (said, number) => googleEvent(googleParts(said, number), 'STOP'),
  stream: (said, number) =>
    frames([...googleParts(said, number).map((part) => googleEvent([part])), googleEvent([{ text: '' }], 'STOP')]),
  head: ({ systemInstruction, tools }) => [systemInstruction, tools],
  messages: ({ contents }) => contents as unknown[],
};

const converseUsage = { inputTokens: 10, outputTokens: 10, totalTokens: 20 };
const converseReason = (said: Said) => (said.some(isCall) ? 'tool_use' : 'end_turn');

const bedrockConverse: Format = {
  complete(said, number) {
    const content = said.map((one, at): Json => {
      if (one === 'text') return { text: textOf(number, at) };
      if (isCall(one)) return { toolUse: { toolUseId: callIdOf(number, at), name: one.call, input: one.input } };
      return { reasoningContent: { reasoningText: { text: thoughtOf(number, at), signature: sealOf(number, at) } } };
    });
    const message = { role: 'assistant', content };
    return { output: { message }, stopReason: converseReason(said), usage: converseUsage, metrics: { latencyMs: 1 } };
  },
  stream(said, number) {
    const events: [string, Json][] = [['messageStart', { role: 'assistant' }]];
    said.forEach((one, contentBlockIndex) => {
      const delta = (fields: Json) => events.push(['contentBlockDelta', { contentBlockIndex, delta: fields }]);
      if (one === 'text') for (const text of cut(textOf(number, contentBlockIndex))) delta({ text });
      else if (one === 'thought') {
        for (const text of cut(thoughtOf(number, contentBlockIndex))) delta({ reasoningContent: { text } });
        delta({ reasoningContent: { signature: sealOf(number, contentBlockIndex) } });
      } else {
        const toolUse = { toolUseId: callIdOf(number, contentBlockIndex), name: one.call };
        events.push(['contentBlockStart', { contentBlockIndex, start: { toolUse } }]);
        for (const input of cut(written(one.input))) delta({ toolUse: { input } });
      }
      events.push(['contentBlockStop', { contentBlockIndex }]);
    });
    events.push(['messageStop', { stopReason: converseReason(said) }]);
    events.push(['metadata', { usage: converseUsage, metrics: { latencyMs: 1 } }]);
    return Buffer.concat(events.map(([name, payload]) => eventFrame(name, payload)));
  },
  head: ({ system, toolConfig }) => [system, toolConfig],
  messages: ({ messages }) => messages as unknown[],
};

const responsesItems = (said: Said, number: number): Json[] =>
  said.map((one, at): Json => {
    if (one === 'text') {
      const part = { type: 'output_text', text: textOf(number, at), annotations: [] };
      return { type: 'message', id: `msg_${number}_${at}`, role: 'assistant', status: 'completed', content: [part] };
    }
    if (isCall(one)) {
      const group = one.namespace === undefined ? {} : { namespace: one.namespace };
      const call = { call_id: callIdOf(number, at), name: one.call, ...group, arguments: written(one.input) };
      return { type: 'function_call', id: `fc_${number}_${at}`, status: 'completed', ...call };
    }
    const summary = [{ type: 'summary_text', text: thoughtOf(number, at) }];
    return { type: 'reasoning', id: `rs_${number}_${at}`, summary, encrypted_content: sealOf(number, at) };
  });

const openaiResponses: Format = {
  complete: (said, number) => ({
    id: `resp_${number}`,
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: responsesItems(said, number),
    usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
  }),
  stream(said, number) {
    const whole = this.complete(said, number);
    const response = { ...whole, status: 'in_progress', output: [], usage: null };
    const items = responsesItems(said, number).flatMap((item, output_index): Json[] => {
      const of = { item_id: item.id, output_index };
      const added = (begun: Json): Json => ({ type: 'response.output_item.added', output_index, item: begun });
      const done = { type: 'response.output_item.done', output_index, item };
      if (item.type === 'reasoning') return [added({ ...item, summary: [], encrypted_content: 'begun' }), done];
      if (item.type === 'function_call') {
        const deltas = cut(item.arguments as string).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...of,
          delta,
        }));
        return [added({ ...item, arguments: '', status: 'in_progress' }), ...deltas, done];
      }
      const text = (item.content as { text: string }[])[0]?.text as string;
      const deltas = cut(text).map((delta) => ({
        type: 'response.output_text.delta',
        ...of,
        content_index: 0,
        delta,
      }));
      return [added({ ...item, content: [], status: 'in_progress' }), ...deltas, done];
    });
    const events = [{ type: 'response.created', response }, ...items, { type: 'response.completed', response: whole }];
    return frames(events.map((event, sequence_number) => ({ ...event, sequence_number })));
  },
  head: ({ instructions, tools }) => [instructions, tools],
  messages: ({ input }) => input as unknown[],
};

export const speakingFormats = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'google-generate-content': googleGenerateContent,
  'bedrock-converse': bedrockConverse,
} as const satisfies Record<string, Format>;
export type SpeakingFormat = keyof typeof speakingFormats;

/** An upstream that says what it is told to, in its wire format, and keeps what it was sent. */
export function speakingUpstream(name: SpeakingFormat, next: (body: Json) => Said) {
  const format: Format = speakingFormats[name];
  const sent: { body: Json; said: Said }[] = [];
  const transport: Transport = {
    async send({ url, body: text }) {
      const body = JSON.parse(text as string) as Json;
      const said = next(body);
      const number = sent.push({ body, said });
      const isStream = body.stream === true || /stream/i.test(url);
      const binary = name === 'bedrock-converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
      const pieces = [
        isStream
          ? format.stream(said, number)
          : new TextEncoder().encode(JSON.stringify(format.complete(said, number))),
      ];
      return {
        status: 200,
        headers: { 'content-type': isStream ? binary : 'application/json' },
        body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
      };
    },
  };
  return { transport, sent, head: format.head, messages: format.messages };
}
