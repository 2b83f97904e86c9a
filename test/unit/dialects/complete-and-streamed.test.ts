import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/dialects/dialect.ts';
import { chunkFolder } from '../../../src/formats/chunks.ts';
import type { ChatChoice, ReasoningDetail } from '../../../src/schema/chat/chat.ts';
import { dialects } from '../../support/dialects.ts';

/** One response, as a body and as the events of a stream. */
interface Both {
  body: object;
  events: readonly (readonly [event: object, name?: string])[];
}

const citation = { type: 'web_search_result_location', url: 'https://a.test', title: 'A', cited_text: 'warm' };
const claude = (
  blocks: readonly (readonly [whole: object, begun: object, ...deltas: object[]])[],
  reason: string,
): Both => {
  const head = { type: 'message', role: 'assistant', model: 'claude-opus-5-5' };
  const usage = { input_tokens: 1, output_tokens: 2 };
  return {
    body: { ...head, content: blocks.map(([whole]) => whole), stop_reason: reason, usage },
    events: [
      [{ type: 'message_start', message: { ...head, content: [], usage } }],
      ...blocks.flatMap(([, begun, ...deltas], index): [object][] => [
        [{ type: 'content_block_start', index, content_block: begun }],
        ...deltas.map((delta): [object] => [{ type: 'content_block_delta', index, delta }]),
        [{ type: 'content_block_stop', index }],
      ]),
      [{ type: 'message_delta', delta: { stop_reason: reason }, usage }],
      [{ type: 'message_stop' }],
    ],
  };
};
const claudeThinks = [
  { type: 'thinking', thinking: 'Hm.', signature: 's' },
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'Hm' },
  { type: 'thinking_delta', thinking: '.' },
  { type: 'signature_delta', signature: 's' },
] as const;
const claudeCites = [
  { type: 'text', text: 'It is warm.', citations: [citation] },
  { type: 'text', text: '', citations: [] },
  { type: 'citations_delta', citation },
  { type: 'text_delta', text: 'It is ' },
  { type: 'text_delta', text: 'warm.' },
] as const;
const claudeCalls = (name: string) =>
  [
    { type: 'tool_use', id: name, name, input: { a: 1 } },
    { type: 'tool_use', id: name, name, input: {} },
    { type: 'input_json_delta', partial_json: '{"a"' },
    { type: 'input_json_delta', partial_json: ':1}' },
  ] as const;

/** Each with its complete block, and with what its events hold. */
const converse = (
  blocks: readonly (readonly [block: object, start: object | null, ...deltas: object[]])[],
  reason: string,
): Both => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  return {
    body: {
      output: { message: { role: 'assistant', content: blocks.map(([block]) => block) } },
      stopReason: reason,
      usage,
    },
    events: [
      [{ role: 'assistant' }, 'messageStart'],
      ...blocks.flatMap(([, start, ...deltas], contentBlockIndex): [object, string][] => [
        ...(start === null ? [] : [[{ contentBlockIndex, start }, 'contentBlockStart'] as [object, string]]),
        ...deltas.map((delta): [object, string] => [{ contentBlockIndex, delta }, 'contentBlockDelta']),
        [{ contentBlockIndex }, 'contentBlockStop'],
      ]),
      [{ stopReason: reason }, 'messageStop'],
      [{ usage }, 'metadata'],
    ],
  };
};
const place = { title: 'A', location: { web: { url: 'https://a.test' } }, sourceContent: [{ text: 'warm' }] };
const converseThinks = [
  { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } },
  null,
  { reasoningContent: { text: 'Hm' } },
  { reasoningContent: { text: '.' } },
  { reasoningContent: { signature: 's' } },
] as const;
const converseCites = [
  { citationsContent: { content: [{ text: 'It is ' }, { text: 'warm.' }], citations: [place] } },
  null,
  { text: 'It is ' },
  { citation: place },
  { text: 'warm.' },
] as const;
const converseCalls = (name: string) =>
  [
    { toolUse: { toolUseId: name, name, input: { a: 1 } } },
    { toolUse: { toolUseId: name, name } },
    { toolUse: { input: '{"a"' } },
    { toolUse: { input: ':1}' } },
  ] as const;
const converseDraws = [
  { image: { format: 'webp', source: { bytes: 'AAAA' } } },
  { image: { format: 'webp' } },
  { image: { source: { bytes: 'AAAA' } } },
] as const;
const byClaude: Reading = { reasoningFormat: 'anthropic-claude-v1', signer: 'anthropic.claude-opus-5-5' };

const cohereEvent = (type: string, index: number, message: object, more: object = {}): [object] => [
  { type, index, delta: { message }, ...more },
];
const cohereCall = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const cohere = (finish_reason: string, calls: readonly (readonly [name: string, args: string])[] = []): Both => {
  const usage = { billed_units: { input_tokens: 1, output_tokens: 2 } };
  const citation = {
    start: 0,
    end: 2,
    text: 'It',
    content_index: 1,
    sources: [{ document: { url: 'https://a.test' } }],
  };
  const logprobs = [
    { text: 'It is ', token_ids: [1], logprobs: [-1] },
    { text: 'warm.', token_ids: [2], logprobs: [-2] },
  ];
  const tool_calls = calls.map(([name, args]) => cohereCall(name, name, args));
  const content = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: 'It is warm.' },
  ];
  return {
    body: { finish_reason, message: { content, tool_plan: 'Go.', tool_calls, citations: [citation] }, logprobs, usage },
    events: [
      cohereEvent('message-start', 0, { role: 'assistant' }),
      cohereEvent('content-start', 0, { content: { type: 'thinking', thinking: '' } }),
      cohereEvent('content-delta', 0, { content: { thinking: 'Hm.' } }),
      cohereEvent('content-start', 1, { content: { type: 'text', text: '' } }),
      cohereEvent('content-delta', 1, { content: { text: 'It is ' } }, { logprobs: logprobs[0] }),
      cohereEvent('content-delta', 1, { content: { text: 'warm.' } }, { logprobs: logprobs[1] }),
      cohereEvent('tool-plan-delta', 0, { tool_plan: 'Go.' }),
      ...calls.flatMap(([name, args], at) => [
        cohereEvent('tool-call-start', at, { tool_calls: cohereCall(name, name, '') }),
        ...[...args].map((piece) =>
          cohereEvent('tool-call-delta', at, { tool_calls: { function: { arguments: piece } } }),
        ),
        cohereEvent('tool-call-end', at, {}),
      ]),
      cohereEvent('citation-start', 0, { citations: citation }),
      [{ type: 'message-end', delta: { finish_reason, usage } }],
    ],
  };
};

const sdkSource = { sourceType: 'url', id: 's', url: 'https://a.test', title: 'A' };
const sdkSound = (data: string) => ({ type: 'file', mediaType: 'audio/wav', data: { type: 'data', data } });
const sdkNotes = { anthropic: { signature: 's' } };
const sdkCalls = ['1', '2'].map((a) => ({ type: 'tool-call', toolName: 'f', input: `{"a":${a}}` }));
const sdk = (parts: readonly (readonly [whole: object, ...events: object[]])[], unified: string): Both => {
  const end = {
    finishReason: { unified, raw: 'end' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
  };
  return {
    body: { content: parts.map(([whole]) => whole), ...end },
    events: [...parts.flatMap(([, ...events]) => events), { type: 'finish', ...end }].map((event) => [event]),
  };
};
const sdkThinks = [
  { type: 'reasoning', text: 'Hm.', providerMetadata: sdkNotes },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
  { type: 'reasoning-delta', id: 'r', delta: '.' },
  { type: 'reasoning-end', id: 'r', providerMetadata: sdkNotes },
] as const;
const sdkCites = [{ source: sdkSource, startIndex: 0, endIndex: 2, citedText: 'warm' }];
const sdkSays = [
  { type: 'text', text: 'It is warm.', citations: sdkCites },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'It is warm.' },
  { type: 'text-end', id: 't', citations: sdkCites },
] as const;

const openaiCites = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 };
const openaiTokens = [{ token: 'It is warm.', logprob: -1, bytes: [73], top_logprobs: [] }];
const openaiItems = [
  {
    type: 'reasoning',
    id: 'r',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    content: [{ type: 'reasoning_text', text: 'Ah.' }],
    encrypted_content: 'x',
  },
  {
    type: 'message',
    id: 'm',
    content: [
      { type: 'output_text', text: 'It is warm.', annotations: [openaiCites], logprobs: openaiTokens },
      { type: 'refusal', refusal: 'Not that.' },
    ],
  },
  { type: 'image_generation_call', id: 'i', result: 'AAAA', output_format: 'webp' },
  { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{"a":1}' },
] as const;
const responsesApi = (): Both => {
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const response = { status: 'completed', output: openaiItems, usage, service_tier: 'flex' };
  const at = (output_index: number, type: string, more: object): [object] => [
    { type: `response.${type}`, output_index, ...more },
  ];
  return {
    body: response,
    events: [
      [{ type: 'response.created', response: { created_at: 1 } }],
      at(0, 'output_item.added', { item: { type: 'reasoning', id: 'r', summary: [] } }),
      at(0, 'reasoning_summary_text.delta', { summary_index: 0, delta: 'Hm.' }),
      at(0, 'reasoning_text.delta', { content_index: 0, delta: 'Ah.' }),
      at(0, 'output_item.done', { item: openaiItems[0] }),
      at(1, 'output_item.added', { item: { type: 'message', id: 'm', content: [] } }),
      at(1, 'output_text.delta', { content_index: 0, delta: 'It is warm.', logprobs: openaiTokens }),
      at(1, 'output_text.annotation.added', { content_index: 0, annotation: openaiCites }),
      at(1, 'refusal.delta', { content_index: 1, delta: 'Not that.' }),
      at(1, 'output_item.done', { item: openaiItems[1] }),
      at(2, 'output_item.done', { item: openaiItems[2] }),
      at(3, 'output_item.added', { item: { ...openaiItems[3], arguments: '' } }),
      at(3, 'function_call_arguments.delta', { delta: '{"a":1}' }),
      at(3, 'output_item.done', { item: openaiItems[3] }),
      [{ type: 'response.completed', response }],
    ],
  };
};

const chat = (): Both => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const thought = { type: 'reasoning.text', text: 'Hm.', index: 0 };
  const signed = { extra_content: { google: { thought_signature: 's' } } };
  const logprobs = { content: [{ token: 'It is warm.', logprob: -1 }] };
  const call = { id: 'c', type: 'function', ...signed };
  const piece = (delta: object, more: object = {}): [object] => [{ choices: [{ index: 0, delta, ...more }] }];
  const message = {
    role: 'assistant',
    content: 'It is warm.',
    reasoning_content: 'Hm.',
    reasoning_details: [thought],
    refusal: 'Not that.',
    images: [image],
    annotations: [{ type: 'url_citation' }],
    tool_calls: [{ ...call, function: { name: 'f', arguments: '{"a":1}' } }],
  };
  return {
    body: { choices: [{ index: 0, message, finish_reason: 'tool_calls', logprobs }], usage },
    events: [
      piece({ role: 'assistant', content: '' }),
      piece({ reasoning_content: 'Hm.', reasoning_details: [thought] }),
      piece({ content: 'It is warm.' }, { logprobs }),
      piece({ refusal: 'Not that.', images: [image] }),
      piece({ annotations: [{ type: 'url_citation' }] }),
      piece({ tool_calls: [{ index: 0, ...call, function: { name: 'f', arguments: '{"a"' } }] }),
      piece({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      [{ ...piece({}, { finish_reason: 'tool_calls' })[0], usage }],
    ],
  };
};

const responses: readonly [dialect: keyof typeof dialects, of: string, Both, Reading?][] = [
  [
    'anthropic-messages',
    'thoughts, citations, calls',
    claude([claudeThinks, claudeCites, claudeThinks, claudeCalls('f')], 'tool_use'),
  ],
  [
    'anthropic-messages',
    'output by a tool',
    claude([claudeCites, claudeCalls('out'), claudeThinks], 'tool_use'),
    { outputTool: 'out' },
  ],
  [
    'anthropic-messages',
    'text in place of output',
    claude([claudeThinks, claudeCites, claudeThinks], 'end_turn'),
    { outputTool: 'out' },
  ],
  [
    'bedrock-converse',
    'thoughts, citations, images, calls',
    converse([converseThinks, converseCites, converseThinks, converseDraws, converseCalls('f')], 'tool_use'),
    byClaude,
  ],
  [
    'bedrock-converse',
    'output by a tool, behind another call',
    converse([converseCites, converseCalls('f'), converseCalls('out')], 'tool_use'),
    { outputTool: 'out' },
  ],
  [
    'bedrock-converse',
    'text in place of output',
    converse([converseCites, converseCalls('f')], 'tool_use'),
    { outputTool: 'out' },
  ],
  [
    'cohere-chat',
    'thoughts, citations, calls',
    cohere('TOOL_CALL', [
      ['f', '{"a":1}'],
      ['g', 'null'],
    ]),
  ],
  ['cohere-chat', 'text in place of output', cohere('COMPLETE'), { outputTool: 'out' }],
  [
    'ai-sdk',
    'thoughts, citations, calls',
    sdk(
      [
        sdkThinks,
        sdkSays,
        [
          { ...sdkCalls[0], toolCallId: 'c' },
          { type: 'tool-input-start', id: 'c', toolName: 'f' },
          { type: 'tool-input-delta', id: 'c', delta: '{"a":1}' },
          { ...sdkCalls[0], toolCallId: 'c' },
        ],
      ],
      'tool-calls',
    ),
  ],
  [
    'ai-sdk',
    'calls without ids',
    sdk(
      sdkCalls.map((call) => [call, call] as const),
      'tool-calls',
    ),
  ],
  [
    'ai-sdk',
    'several sounds',
    sdk(
      ['AA==', 'BB=='].map((data) => [sdkSound(data), sdkSound(data)] as const),
      'stop',
    ),
  ],
  ['openai-responses', 'thoughts, citations, probabilities, a refusal, images, calls', responsesApi()],
  ['openai-chat', 'thoughts, a refusal, images, signed calls', chat()],
];

/** Streams tell of a thought in pieces: its text, then its signature. */
function joined(details: readonly ReasoningDetail[] = []): object[] {
  const byIndex = new Map<unknown, Record<string, unknown>>();
  for (const detail of details) {
    const { text, ...others } = detail as Record<string, unknown>;
    const known = byIndex.get(detail.index) ?? {};
    byIndex.set(detail.index, Object.assign(known, others, { text: `${known.text ?? ''}${text ?? ''}` }));
  }
  return [...byIndex.values()];
}

function said(choice: ChatChoice | undefined): object {
  const { message, finish_reason, native_finish_reason, logprobs } = choice as ChatChoice;
  const { reasoning_details: details, content, ...others } = message;
  const thoughts = joined(details);
  return { ...others, content: content ?? '', thoughts, finish_reason, native_finish_reason, logprobs };
}

describe('a response says the same, complete and streamed', () => {
  it.each(responses)('%s: %s', (name, _, { body, events }, reading) => {
    const dialect = dialects[name];
    const complete = dialect.decodeResult(body, {}, reading);
    const decoder = dialect.streamDecoder({}, reading);
    const folder = chunkFolder();
    let usage: unknown = null;
    const parts = events.flatMap(([event, frame = '']) => decoder.decode(JSON.stringify(event), frame));
    for (const part of [...parts, ...(decoder.end?.() ?? [])]) {
      if (part.kind === 'chunk') folder.add(part.chunk);
      else if (part.kind === 'usage') usage = part.usage;
    }
    expect(said(folder.result()?.choices[0])).toEqual(said(complete.result.choices[0]));
    expect(usage).toEqual(complete.usage);
  });
});
