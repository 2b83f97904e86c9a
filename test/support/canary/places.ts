import { nativeMessage, nativeMessageEvents, nativeResponse, nativeStream } from '../ask-responses.ts';
import { chunk, completion, type Piece, sse, usageChunk } from '../upstream.ts';

/** How a provider that means no harm shows the key it was sent. */
export const spellings: Record<string, (key: string) => string> = {
  plain: (key) => key,
  header: (key) => `Authorization: Bearer ${key}`,
  curl: (key) => `curl -H 'authorization: Bearer ${key}' https://north.test`,
  twice: (key) => `${key}${key}`,
  base64: (key) => Buffer.from(key).toString('base64'),
  basic: (key) => `Basic ${Buffer.from(`user:${key}`).toString('base64')}`,
  base64url: (key) => Buffer.from(key).toString('base64url'),
  url: (key) => `https://north.test/?key=${encodeURIComponent(key)}`,
  json: (key) => JSON.stringify({ authorization: key }),
};

type Place = (
  shown: string,
  json: (value: unknown) => string,
) => { status?: number; headers?: Record<string, string>; body: Piece[] };

const streamOf = (...events: string[]): Piece[] => [
  sse(chunk({ role: 'assistant', content: '' })),
  ...events,
  sse(chunk({}, 'stop')),
  sse(usageChunk()),
  sse('[DONE]'),
];

/** Where it shows it. */
export const places: Record<string, Place> = {
  'error 401': (shown, json) => ({ status: 401, body: [json({ error: { message: `Wrong: ${shown}`, code: shown } })] }),
  'error 400': (shown, json) => ({
    status: 400,
    body: [json({ error: { message: shown, type: shown, param: shown } })],
  }),
  'error 429': (shown, json) => ({
    status: 429,
    headers: { 'x-ratelimit-key': shown },
    body: [json({ detail: shown })],
  }),
  'error 500': (shown) => ({ status: 500, body: [`<html><title>${shown}</title></html>`] }),
  'error text': (shown) => ({ status: 403, body: [`${'x'.repeat(240)}${shown}`] }),
  answer: (shown, json) => ({
    headers: { 'x-api-key': shown, 'set-cookie': `key=${shown}` },
    body: [json(completion({ system_fingerprint: shown, service_tier: shown }, { content: shown, reasoning: shown }))],
  }),
  tools: (shown, json) => ({
    body: [
      json(
        completion({}, { tool_calls: [{ id: shown, type: 'function', function: { name: 'f', arguments: shown } }] }),
      ),
    ],
  }),
  'broken answer': (shown, json) => ({
    body: [json(completion({}, { content: shown })).slice(0, -20), { breaks: true }],
  }),
  stream: (shown, json) => ({ body: streamOf(`data: ${json(chunk({ content: shown }))}\n\n`) }),
  'stream, cut anywhere': (shown, json) => ({
    body: [...streamOf(`data: ${json(chunk({ content: shown }))}\n\n`).join('')].reduce<string[]>((cut, one, at) => {
      if (at % 7 === 0) cut.push('');
      cut[cut.length - 1] += one;
      return cut;
    }, []),
  }),
  'stream of tools': (shown, json) => ({
    body: streamOf(
      `data: ${json(chunk({ tool_calls: [{ index: 0, id: shown, function: { name: 'f', arguments: shown } }] }))}\n\n`,
    ),
  }),
  'comment in a stream': (shown) => ({ body: streamOf(`: ${shown}\n\n`, sse(chunk({ content: 'Hi' }))) }),
  'error before a stream': (shown, json) => ({
    body: [`data: ${json({ error: { message: shown, code: shown } })}\n\n`],
  }),
  'error in a stream': (shown, json) => ({
    body: [sse(chunk({ content: 'Hi' })), `data: ${json({ error: { message: shown, code: shown } })}\n\n`],
  }),
};

const opaque = (shown: string) => ({
  type: 'web_search_call',
  id: shown,
  status: 'completed',
  action: { query: shown },
});
const called = (shown: string) => ({ type: 'function_call', id: shown, call_id: shown, name: 'f', arguments: shown });

/** Where a provider that speaks Responses shows it; its errors have the places above. */
export const nativePlaces: Record<string, Place> = {
  answer: (shown, json) => ({
    headers: { 'x-api-key': shown },
    body: [json(nativeResponse([opaque(shown), nativeMessage(shown), called(shown)], { service_tier: shown }))],
  }),
  'failed answer': (shown, json) => ({
    body: [json(nativeResponse([], { status: 'failed', error: { code: shown, message: shown } }))],
  }),
  stream: (shown) => ({ body: nativeStream(nativeMessageEvents(0, [shown]), [nativeMessage(shown)]) }),
  'stream of items': (shown) => {
    const items = [opaque(shown), called(shown)];
    const added = items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ]);
    return { body: nativeStream(added, items) };
  },
  'error in a stream': (shown) => ({
    body: [
      ...nativeStream(nativeMessageEvents(0, ['Hi']), []).slice(0, -1),
      sse({ type: 'error', code: shown, message: shown }),
    ],
  }),
};

/** The places of whoever is asked at this URL. */
export function placesAt(url: string): Record<string, Place> {
  return url.endsWith('/responses') ? { ...places, ...nativePlaces } : places;
}

/** As servers in PHP and Go write it. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[&<>]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
}
