// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import type { GuardrailAction } from '../../src/guardrails/text/pattern.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { chunk, completion, errorBody, sse } from '../support/upstream.ts';

const address = 'bob@example.com';
const metadata = { 'x-service-metadata': 'enabled' };

function guarded(action: GuardrailAction, options: Partial<GatewayOptions> = {}): TestGateway {
  const test = testGateway({
    guardrails: [textGuardrail({ id: 'pii', patterns: [{ builtin: 'email', action }] })],
    retry: { maxAttempts: 1 },
    ...options,
  });
  test.upstream.always({ body: completion() });
  return test;
}

const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64');
const file = (data: string) => [
  { role: 'user', content: [{ type: 'file', file: { filename: 'a', file_data: data } }] },
];
const long = 'Lorem ipsum dolor sit amet. '.repeat(20);

describe('a data URL', () => {
  it.each([
    ['no URL at all', `data: ${address}`],
    ['base64 of text', `data:text/plain;base64,${base64(`${long}${address}`)}`],
    ['base64 with a charset', `data:text/csv;charset=utf-8;base64,${base64(`${long}${address}`)}`],
    ['base64 without a type', `data:;base64,${base64(`${long}${address}`)}`],
    ['text that says it is a file of another kind', `data:application/octet-stream;base64,${base64(long + address)}`],
    ['letters of URLs', `data:text/plain;base64,${Buffer.from(`${long}ÿþ${address}`).toString('base64url')}`],
    ['escapes', `data:text/plain,${encodeURIComponent(`${long}${address}`)}`],
    ['escapes that are none', `data:text/plain,bob%40example.com%zz`],
    ['escapes in base64', `data:text/plain;base64,${encodeURIComponent(base64(`${long}${address}`))}`],
    ['lines in base64', `data:text/plain;base64,${base64(`${long}${address}`).replace(/.{76}/g, '$&\r\n')}`],
    ['an image that is a text', `data:image/svg+xml;base64,${base64(`<svg>${long}${address}</svg>`)}`],
    ['capital letters', `DATA:TEXT/PLAIN;BASE64,${base64(`${long}${address}`)}`],
    ['no head', base64(`${long}${address}`)],
    ['UTF-16', `data:text/plain;charset=utf-16le;base64,${base64(`${long}${address}`, 'utf16le')}`],
    ['letters after an image', `data:image/png;base64,AAAA ${address}`],
  ])('is looked at as those read it who get it: %s', async (_, data) => {
    for (const action of ['block', 'redact'] as const) {
      const { post, upstream } = guarded(action);
      const { status } = await post({ model: 'acme/fast', messages: file(data) });
      if (action === 'block') expect([status, upstream.sent.length]).toEqual([403, 0]);
      else {
        const [message] = (upstream.sent[0]?.body.messages ?? []) as { content: { file: { file_data: string } }[] }[];
        const sent = message?.content[0]?.file.file_data ?? '';
        expect([403, 200]).toContain(status);
        expect(sent).not.toBe(data);
        expect(Buffer.from(sent.replace(/^.*,/, ''), 'base64').toString()).not.toContain(address);
      }
    }
  });
  it('that holds a text is one after redaction, too', async () => {
    const { post, upstream } = guarded('redact');
    await post({ model: 'acme/fast', messages: file(`data:text/plain;base64,${base64(`Ask ${address}.`)}`) });
    expect(upstream.sent[0]?.text).toContain(`data:text/plain;base64,${base64('Ask [REDACTED:email].')}`);
  });
  it('is none where a sentence begins like one: it stays a sentence', async () => {
    const { post, upstream } = guarded('redact');
    const messages = [{ role: 'user', content: `Data: 50% of all, ask ${address} for it` }];
    await post({ model: 'acme/fast', messages });
    expect(upstream.sent[0]?.body.messages).toEqual([
      { role: 'user', content: 'Data: 50% of all, ask [REDACTED:email] for it' },
    ]);
  });
  it('of an image passes as it is, also a long one, and counts for nothing', async () => {
    const { post, upstream } = guarded('redact');
    const url = `data:image/png;base64,${Buffer.alloc(3_000_000, 'PNG\0').toString('base64')}`;
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    expect((await post({ model: 'acme/fast', messages })).status).toBe(200);
    expect(upstream.sent[0]?.text.includes(url)).toBe(true);
  });
});

describe('what cannot be rewritten', () => {
  const parameters = (schema: object) => ({
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: schema } } }],
  });
  it.each([
    ['a name of a member', parameters({ [address]: {} }), 'tools[0].function.parameters.properties.*'],
    ['an enum', parameters({ a: { enum: [address] } }), 'tools[0].function.parameters.properties.*.enum[0]'],
    ['a name of metadata', { metadata: { [address]: 'x' } }, 'metadata.*'],
    ['a setting of a plugin', { plugins: [{ id: 'web', search_prompt: address }] }, 'plugins[0].*'],
  ])('is refused by its place, and not by its text: %s', async (_, body, place) => {
    const { post, upstream } = guarded('redact');
    const { status, json, text } = await post({ model: 'acme/fast', messages: hello, ...body });
    expect([status, json.error.metadata]).toMatchObject([403, { patterns: ['email'], places: [place] }]);
    expect([text.includes(address), json.error.message.includes(place), upstream.sent.length]).toEqual([
      false,
      true,
      0,
    ]);
  });
  it('leaves the words of the wire formats alone, and short numbers of settings', async () => {
    const { post } = guarded('redact', {
      guardrails: [
        textGuardrail({
          id: 'words',
          patterns: [
            { literal: 'user', name: 'user', action: 'redact' },
            { regex: '[0-9]{4}', name: 'pin', action: 'redact' },
          ],
        }),
      ],
    });
    expect((await post({ model: 'acme/fast', messages: hello, max_tokens: 4096, seed: 1234 })).status).toBe(200);
    expect((await post({ model: 'acme/fast', messages: hello, seed: 41_111_111 })).status).toBe(403);
  });
});

describe('in a response', () => {
  it('the name of a called function is looked at as a whole, wherever it was cut', async () => {
    for (let cut = 1; cut < address.length; cut++) {
      const call = (part: object) => chunk({ tool_calls: [{ index: 0, function: part }] });
      const { post, upstream } = guarded('redact');
      upstream.answer({
        body: [
          sse(
            chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: address.slice(0, cut) } }] }),
            call({ name: address.slice(cut) }),
            call({ arguments: '{}' }),
            chunk({}, 'tool_calls'),
            '[DONE]',
          ),
        ],
      });
      const { chunks, text } = await post({ model: 'acme/fast', messages: hello, stream: true });
      expect([chunks.at(-1)?.error?.code, text.includes(`${address.slice(0, cut)}"`)]).toEqual([403, false]);
    }
  });
  it.each([false, true])("a provider's words of a failure are left out (stream: %s)", async (stream) => {
    const { post, upstream, records } = guarded('redact');
    upstream.answer(
      stream
        ? { body: [sse(chunk({ content: 'Hi' }), { error: { code: 500, message: `Ask ${address}` } })] }
        : { status: 500, body: errorBody(`Ask ${address}`) },
    );
    const { text } = await post({ model: 'acme/fast', messages: hello, stream });
    expect([text.includes(address), JSON.stringify(records).includes(address)]).toEqual([false, false]);
    expect(text).toContain('A guardrail holds back');
  });
});

describe('what a plugin shows of a service', () => {
  it('is held back, as its stage', async () => {
    const speaks = definePlugin({
      id: 'speaks',
      isDefault: true,
      before(request, { addStage }) {
        addStage({ type: 'plugin', name: 'speaks', summary: 'asked', data: { [`name ${address}`]: [address] } });
        return request;
      },
    });
    const { post, records } = guarded('redact', { plugins: [speaks] });
    const { json, text } = await post({ model: 'acme/fast', messages: hello }, metadata);
    expect(json.service_metadata?.pipeline).toEqual([
      { type: 'plugin', name: 'speaks', summary: 'held back by a guardrail' },
    ]);
    expect([text.includes(address), JSON.stringify(records).includes(address)]).toEqual([false, false]);
  });
  it('is held back where a search engine names it in an address', async () => {
    const engine = engineOf([{ ...pageOf('people', { text: `Ask ${address}` }), url: `https://x.test/${address}` }]);
    const { post, upstream, records } = guarded('redact', { searchEngines: [engine] });
    const { text } = await post({ model: 'acme/fast', messages: hello, plugins: [{ id: 'web' }] }, metadata);
    for (const told of [text, JSON.stringify(records), upstream.sent[0]?.text]) expect(told).not.toContain(address);
  });
  it('the moderation gets the items of a Responses request as they were left', async () => {
    const asked: string[] = [];
    const sees = definePlugin({
      id: 'sees',
      isDefault: true,
      before(request, { native }) {
        asked.push(JSON.stringify([native, request]));
        return request;
      },
    });
    const test = guarded('redact', { plugins: [sees] });
    const body = { model: 'acme/fast', input: [{ type: 'message', role: 'user', content: `Ask ${address}` }] };
    await test.call('POST', '/responses', body, { authorization: 'Bearer sk-test-inference' });
    expect([asked.length, asked.join().includes(address)]).toEqual([1, false]);
  });
});
