import { describe, expect, it } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import { eventFrame } from '../support/converse-wire.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { authorizationOf, signedHeaders } from '../support/sigv4.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const models = [
  { slug: 'acme/claude', endpoints: [{ provider: 'amazon-bedrock', model: 'us.anthropic.claude-sonnet-4-6' }] },
];
const region = 'us-west-2';
const keys = { accessKeyId: 'AKIDEXAMPLE012345678', secretAccessKey: 'wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY' };
const answer = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
};
const stream = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße' } }),
  eventFrame('messageStop', { stopReason: 'end_turn' }),
  eventFrame('metadata', { usage: answer.usage, serviceTier: { type: 'default' } }),
]);

describe('Amazon Bedrock', () => {
  it('is called with the operator’s own keys: each request is signed at the time of the gateway', async () => {
    const { post, upstream, clock } = testGateway({
      providers: { 'amazon-bedrock': { credential: { ...keys, region } } },
      models,
    });
    upstream.answer({ body: JSON.stringify(answer) }, { body: [new Uint8Array(stream)] });
    const whole = await post({ model: 'acme/claude', messages: hello });
    expect([whole.status, whole.json.choices?.[0]?.message.content]).toEqual([200, 'Hi']);
    const streamed = await post({ model: 'acme/claude', messages: hello, stream: true });
    expect(streamed.text).toContain('Grüße');
    expect(streamed.text).toContain('"service_tier":"default"');
    checkChunks(streamed.text, 'acme/claude');
    for (const [at, operation] of ['converse', 'converse-stream'].entries()) {
      const sent = upstream.sent[at] as (typeof upstream.sent)[number];
      expect(sent.url).toBe(
        `https://bedrock-runtime.us-west-2.amazonaws.com/model/us.anthropic.claude-sonnet-4-6/${operation}`,
      );
      expect(sent.headers['x-amz-date']).toBe(new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''));
      const authorization = sent.headers.authorization as string;
      const signed = { method: 'POST', url: sent.url, headers: sent.headers, body: JSON.stringify(sent.body) };
      expect(authorization).toBe(
        authorizationOf(signed, { ...keys, region, service: 'bedrock' }, signedHeaders(authorization)),
      );
    }
  });

  it('is called with a key of its API that a workspace brings', async () => {
    const { post, call, upstream } = testGateway({ secrets, providers: { 'amazon-bedrock': {} }, models });
    const key = JSON.stringify({ apiKey: 'bedrock-api-key-0123456789', region });
    expect((await call('POST', '/byok', { provider: 'amazon-bedrock', key })).status).toBe(201);
    upstream.answer({ body: JSON.stringify(answer) });
    expect((await post({ model: 'acme/claude', messages: hello })).status).toBe(200);
    expect(upstream.sent[0]?.headers.authorization).toBe('Bearer bedrock-api-key-0123456789');
    expect(upstream.sent[0]?.url).toContain('bedrock-runtime.us-west-2.');
  });

  it.each<[object, string]>([
    [{ region }, 'key: expected apiKey, or accessKeyId and secretAccessKey'],
    [{ apiKey: 'bedrock-api-key-0123456789' }, 'key.region: expected a region such as us-east-1'],
    [{ apiKey: 'bedrock-api-key-0123456789', region: 'evil.test/us-east-1' }, 'key.region: expected a region'],
    [{ accessKeyId: keys.accessKeyId, region }, 'key: expected apiKey, or accessKeyId and secretAccessKey'],
    [{ ...keys, accessKeyId: 'short', region }, 'key.accessKeyId: expected the id of an access key'],
    [{ ...keys, region, profile: 'x' }, 'key.profile: expected no such part'],
  ])('does not use the credential %j, and names what is missing on POST /byok', async (key, message) => {
    const { call } = testGateway({ secrets, providers: { 'amazon-bedrock': {} }, models });
    const stored = await call('POST', '/byok', { provider: 'amazon-bedrock', key: JSON.stringify(key) });
    expect([stored.status, stored.json.data.unusable_reason]).toEqual([201, expect.stringContaining(message)]);
    expect(stored.text).not.toContain(keys.secretAccessKey);
  });

  it('gets no image by its address: the caller is told where it stands', async () => {
    const { post, upstream } = testGateway({
      providers: { 'amazon-bedrock': { credential: { ...keys, region } } },
      models,
    });
    const content = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
    const refused = await post({ model: 'acme/claude', messages: [{ role: 'user', content }] });
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      expect.stringContaining('messages[0].content[0].image_url.url: expected'),
    ]);
    expect(upstream.sent).toEqual([]);
  });

  it('ends a stream well where it fails only behind the response, and with an error before', async () => {
    const { post, upstream } = testGateway({
      providers: { 'amazon-bedrock': { credential: { ...keys, region } } },
      models,
      retry: { maxAttempts: 1 },
    });
    const text = eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } });
    const failure = eventFrame('internalServerException', { message: 'Broken' }, 'exception');
    const end = eventFrame('messageStop', { stopReason: 'end_turn' });
    upstream.answer({ body: [text, end, failure] }, { body: [text, failure, end] }, { body: [failure] });
    const ask = { model: 'acme/claude', messages: hello, stream: true };
    const [late, early, first] = [await post(ask), await post(ask), await post(ask)];
    expect(late.text).not.toContain('"error"');
    expect(late.text).toContain('"finish_reason":"stop"');
    expect(early.text).toContain('Broken');
    expect(early.text).toContain('"finish_reason":"error"');
    expect([first.status, first.json.error.message]).toEqual([502, 'Broken']);
  });
});
