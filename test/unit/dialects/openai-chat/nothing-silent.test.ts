import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatQuirks, reasoningFields, reasoningStyles } from '../../../../src/dialects/openai-chat/quirks.ts';
import { encodeRequest } from '../../../../src/dialects/openai-chat/request.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { chatRequest } from '../../schema/arbitrary.ts';

/** Fields that the gateway itself acts on, or lists for all dialects: see test/flow/dropped-fields.test.ts. */
const gatewaysOwn =
  /^(?:model|models|provider|plugins|route|debug|trace|session_id|stream|usage|include_reasoning|transforms|stop_server_tools_when|reasoning\.exclude|stream_options\.include_usage)(?:$|[.[])/;

/** Where else in a body a field may be. */
const otherPlaces: [RegExp, string[]][] = [
  [/^max_(?:completion_)?tokens$/, ['max_tokens', 'max_completion_tokens']],
  [
    /^reasoning(?:_effort$|\.)/,
    [
      'reasoning_effort',
      'reasoning.effort',
      'reasoning.max_tokens',
      'reasoning.enabled',
      'thinking.type',
      'enable_thinking',
      'chat_template_kwargs.enable_thinking',
    ],
  ],
];

/** All paths to a value that is no list and no object. */
function leavesOf(value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((one, at) => leavesOf(one, `${path}[${at}]`));
  if (typeof value !== 'object') return [path];
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, path === '' ? key : `${path}.${key}`));
}

function isListed(path: string, dropped: readonly string[]): boolean {
  const general = path.replaceAll(/\[\d+\]/g, '[]');
  return dropped.some((one) => general === one || general.startsWith(`${one}.`) || general.startsWith(`${one}[`));
}

/** Earlier reasoning, in whichever field; and the id of a sound, which stands for the sound. */
function isMoved(path: string, sent: ReadonlySet<string>): boolean {
  const [, message, field] = /^(messages\[\d+\])\.(\w+)/.exec(path) ?? [];
  if (field === 'audio') return sent.has(`${message}.audio.id`);
  if (!reasoningFields.some((one) => one === field)) return false;
  return [...sent].some((one) => reasoningFields.some((name) => one.startsWith(`${message}.${name}`)));
}

/** The fields that are neither in the body nor listed. */
function silentIn(request: ChatRequest, quirks: ChatQuirks): string[] {
  const { payload, dropped } = encodeRequest({ request, upstreamModel: 'm', quirks });
  const sent = new Set(leavesOf(payload));
  return leavesOf(request).filter((path) => {
    if (sent.has(path) || gatewaysOwn.test(path) || isListed(path, dropped) || isMoved(path, sent)) return false;
    // A thought without a text and without a signature holds nothing.
    if (/^messages\[\d+\]\.reasoning_details\[\d+\]\.(?!text|summary|data|signature)/.test(path)) return false;
    return !otherPlaces.some(([from, to]) => from.test(path) && to.some((one) => sent.has(one)));
  });
}

const quirksOf: fc.Arbitrary<ChatQuirks> = fc.record(
  {
    reasoningStyle: fc.constantFrom(...reasoningStyles),
    reasoningField: fc.constantFrom(...reasoningFields, null),
    reasoningFormat: fc.constantFrom('anthropic-claude-v1', 'own'),
    cacheControl: fc.subarray(['request', 'messages', 'tools'] as const).map((places) => [...places]),
    assistantFields: fc.subarray(['annotations', 'images'] as const).map((fields) => [...fields]),
    dropParams: fc.subarray(['seed', 'tools', 'logprobs', 'n', 'reasoning_effort', 'thinking', 'response_format']),
    maxTokensField: fc.constantFrom('max_tokens', 'max_completion_tokens'),
    streamOptions: fc.boolean(),
    developerRole: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('no field of a request is silently without effect', () => {
  it('of random requests, for a provider without quirks', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        expect(silentIn(request as unknown as ChatRequest, {})).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
  it('of random requests, for providers with random quirks', () => {
    fc.assert(
      fc.property(chatRequest, quirksOf, (request, quirks) => {
        expect(silentIn(request as unknown as ChatRequest, quirks)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
  it.each<[object, string[]]>([
    [{ max_tokens: 5, max_completion_tokens: 6 }, ['max_tokens']],
    [{ max_tokens: 6, max_completion_tokens: 6 }, []],
    [{ stream_options: { include_usage: false } }, []],
    [{ stream_options: { include_obfuscation: false } }, ['stream_options']],
    [{ stream: true, stream_options: { include_obfuscation: false } }, []],
    [{ usage: { include: true }, include_reasoning: false, session_id: 's', trace: {}, route: 'fallback' }, []],
  ])('%j', (fields, dropped) => {
    const request = { messages: [{ role: 'user', content: 'Hi' }], ...fields } as ChatRequest;
    expect(encodeRequest({ request, upstreamModel: 'm', quirks: {} }).dropped).toEqual(dropped);
  });
  it('of messages: each path is listed once, however many messages have it', () => {
    const cache = { type: 'ephemeral' };
    const image = { image_url: { url: 'data:image/png;base64,AA==' } };
    const from = { role: 'assistant', content: 'A', images: [image], annotations: [{ type: 'x' }] };
    const audio = { role: 'assistant', content: null, audio: { id: 'audio_1', data: 'AA==', transcript: 'Hi' } };
    const marked = {
      role: 'user',
      content: [{ type: 'text', text: 'Hi', cache_control: cache }],
      cache_control: cache,
    };
    const messages = [marked, from, from, audio, { ...from, images: [], annotations: null }, marked];
    const request = { messages } as unknown as ChatRequest;
    const { payload, dropped } = encodeRequest({ request, upstreamModel: 'm', quirks: {} });
    const plain = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
    const text = { role: 'assistant', content: 'A' };
    expect(payload.messages).toEqual([plain, text, text, { ...audio, audio: { id: 'audio_1' } }, text, plain]);
    expect(dropped).toEqual([
      'messages[].cache_control',
      'messages[].content[].cache_control',
      'messages[].annotations',
      'messages[].images',
    ]);
    const taken = encodeRequest({
      request,
      upstreamModel: 'm',
      quirks: { cacheControl: ['messages'], assistantFields: ['annotations', 'images'] },
    });
    const others = [
      { ...audio, audio: { id: 'audio_1' } },
      { ...text, images: [] },
    ];
    expect(taken.payload.messages).toEqual((messages as object[]).toSpliced(3, 2, ...others));
    expect(taken.dropped).toEqual([]);
  });
});
