import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bearerHeader, requestJson } from '../../../../src/base/http/request-json.ts';

const key = 'the-key-of-the-service-0123456789';
const ask = (fetch: typeof globalThis.fetch, headers: Record<string, string> = bearerHeader(key)) =>
  requestJson({
    url: 'https://service.example/',
    headers,
    body: {},
    maxBytes: 1_000_000,
    signal: new AbortController().signal,
    fetch,
  });
/** A response in pieces that are cut anywhere. */
const inPieces = (text: string, places: readonly number[]) => {
  const bytes = new TextEncoder().encode(text);
  const cuts = [0, ...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length];
  return async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const [at, to] of cuts.slice(1).entries()) controller.enqueue(bytes.slice(cuts[at], to));
          controller.close();
        },
      }),
    );
};
const escaped = Array.from(key, (one) => `\\u00${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

describe('requestJson', () => {
  it.each([
    ['as it is', key],
    ['as a bearer token', `Bearer ${key}`],
    ['in base64', Buffer.from(key).toString('base64')],
    ['escaped', escaped],
  ])('redacts a key that the service sends back %s, however the response is cut', async (_, echoed) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), async (places, isLong) => {
        const text = `{"x":"${'é'.repeat(isLong ? 70_000 : 3)}","error":"key ${echoed} is wrong","${echoed}":1}`;
        const said = JSON.stringify(await ask(inPieces(text, places)));
        expect(said).toContain('[redacted]');
        expect(said).not.toContain(key);
        expect(said).not.toContain(Buffer.from(key).toString('base64').slice(0, 12));
      }),
      { numRuns: 30 },
    );
  });
  it('says nothing of a key that no header can hold', async () => {
    const error = await ask(globalThis.fetch, bearerHeader(`${key}\n${key}`)).catch((one: unknown) => one);
    expect(`${(error as Error).message} ${(error as Error).stack} ${(error as Error).cause}`).not.toContain(key);
  });
  it('leaves other errors as they are', async () => {
    const broken = new TypeError('fetch failed');
    await expect(ask(async () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
