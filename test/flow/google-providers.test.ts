// Loaded beforehand: signing loads it when it is first needed, which takes time that a manual clock knows nothing of.
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Transport } from '../../src/entries/testing.ts';
import { OptionsError } from '../../src/options.ts';
import { hello, testGateway } from '../support/gateway.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const clientEmail = 'gateway@my-project.iam.gserviceaccount.com';
const project = 'my-project-123';
const apiKey = 'AIzaSy-not-a-real-key-0123456789';
const model = (provider: string) => [{ slug: 'google/gemini', endpoints: [{ provider, model: 'gemini-2.5-flash' }] }];
const ask = { model: 'google/gemini', messages: hello };
const answer = {
  body: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1 },
  },
};

let privateKey: string;
let publicKey: CryptoKey;
beforeAll(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true });
  privateKey = await exportPKCS8(pair.privateKey);
  publicKey = pair.publicKey;
});

/** The file of keys as Google issues it. */
const keyFile = () => ({
  type: 'service_account',
  project_id: project,
  private_key_id: '0123456789abcdef',
  private_key: privateKey,
  client_email: clientEmail,
  client_id: '1',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  token_uri: 'https://oauth2.googleapis.com/token',
  auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
  client_x509_cert_url: 'https://www.googleapis.com/robot/v1/metadata/x509/a',
  universe_domain: 'googleapis.com',
});

describe('Google AI Studio', () => {
  it('is spoken to in its own dialect, with the key in a header of its own', async () => {
    const { post, upstream } = testGateway({
      providers: { 'google-ai-studio': { apiKey } },
      models: model('google-ai-studio'),
    });
    upstream.answer(answer);
    const { status, json } = await post(ask);
    expect([status, json.choices[0]?.message.content]).toEqual([200, 'Hi']);
    const [sent] = upstream.sent;
    expect(sent?.url).toBe('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent');
    expect(sent?.headers['x-goog-api-key']).toBe(apiKey);
    expect(sent?.headers).not.toHaveProperty('authorization');
  });

  it('is asked for a stream at another address', async () => {
    const { post, upstream } = testGateway({
      providers: { 'google-ai-studio': { apiKey } },
      models: model('google-ai-studio'),
    });
    upstream.answer({ body: [`data: ${JSON.stringify(answer.body)}\r\n\r\n`] });
    const { text } = await post({ ...ask, stream: true });
    expect(text).toContain('"content":"Hi"');
    expect(text).toContain('[DONE]');
    expect(upstream.sent[0]?.url).toMatch(/:streamGenerateContent\?alt=sse$/);
  });
});

describe('Google Vertex AI', () => {
  it('takes a key file as a workspace’s key, and gets a token that the service account signed', async () => {
    const { post, call, upstream, clock } = testGateway({
      secrets,
      providers: { 'google-vertex': {} },
      models: model('google-vertex'),
    });
    const key = JSON.stringify({ ...keyFile(), location: 'europe-west4' }, null, 2);
    const made = await call('POST', '/byok', { provider: 'google-vertex', key });
    expect([made.status, made.text]).toEqual([201, expect.not.stringContaining('MII')]);
    upstream.answer(answer);
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: true });
    const [sent] = upstream.sent;
    expect(sent?.url).toBe(
      `https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/${project}/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent`,
    );
    const token = sent?.headers.authorization?.replace('Bearer ', '') ?? '';
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: new Date(clock.now()) });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: '0123456789abcdef' });
    const now = Math.floor(clock.now() / 1000);
    expect(payload).toMatchObject({
      iss: clientEmail,
      sub: clientEmail,
      aud: 'https://aiplatform.googleapis.com/',
    });
    expect(payload.exp).toBe((payload.iat as number) + 3600);
    expect(Math.abs((payload.iat as number) - now)).toBeLessThan(60);
  });

  it('keeps a token until shortly before its end', async () => {
    const { post, upstream, clock } = testGateway({
      providers: {
        // As files of environment variables write the key.
        'google-vertex': { credential: { clientEmail, project, privateKey: privateKey.replaceAll('\n', '\\n') } },
      },
      models: model('google-vertex'),
    });
    const tokens: (string | undefined)[] = [];
    for (const minutes of [0, 45, 10]) {
      await clock.advance(minutes * 60_000);
      upstream.answer(answer);
      expect((await post(ask)).status).toBe(200);
      tokens.push(upstream.sent.at(-1)?.headers.authorization);
    }
    expect(upstream.sent[0]?.url).toMatch(
      /^https:\/\/aiplatform\.googleapis\.com\/v1beta1\/projects\/my-project-123\/locations\/global\/publishers\/google\/models\//,
    );
    expect(tokens[1]).toBe(tokens[0]);
    expect(tokens[2]).not.toBe(tokens[0]);
  });

  it('takes an API key alone, which knows its project', async () => {
    const { post, upstream } = testGateway({
      providers: { 'google-vertex': { apiKey } },
      models: model('google-vertex'),
    });
    upstream.answer(answer);
    expect((await post(ask)).status).toBe(200);
    const [sent] = upstream.sent;
    expect(sent?.url).toBe(
      'https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent',
    );
    expect(sent?.headers['x-goog-api-key']).toBe(apiKey);
    expect(sent?.headers).not.toHaveProperty('authorization');
  });

  it.each<[object, string]>([
    [{ location: 'evil.test/' }, 'key.location: expected a location'],
    [{ project_id: '../x' }, 'key.project: expected the id of a project'],
    [{ private_key: 'x' }, 'key.privateKey: expected a private key'],
    [{ client_email: 'x' }, 'key.clientEmail: expected the address'],
    [{ region: 'x' }, 'key.region: expected no such part'],
    [{ private_key: undefined }, 'expected apiKey, or clientEmail and privateKey and project'],
  ])('does not use a key file with %o, and says why on POST /byok', async (change, message) => {
    const { call } = testGateway({ secrets, providers: { 'google-vertex': {} }, models: model('google-vertex') });
    const key = JSON.stringify({ ...keyFile(), location: 'global', ...change });
    const stored = await call('POST', '/byok', { provider: 'google-vertex', key });
    expect([stored.status, stored.json.data.unusable_reason]).toEqual([201, expect.stringContaining(message)]);
    expect(stored.text).not.toContain('BEGIN PRIVATE KEY-----\\n');
  });

  it('fails over where the key of a service account cannot sign, and never shows it', async () => {
    const broken = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----`;
    const { post, upstream } = testGateway({
      providers: { 'google-vertex': { credential: { clientEmail, project, privateKey: broken } } },
      models: model('google-vertex'),
    });
    const refused = await post(ask);
    expect(refused.status).toBe(502);
    expect(refused.text).not.toContain('AAAA');
    expect(upstream.sent).toEqual([]);
  });

  it('is refused in the options without a complete way to sign in', () => {
    const make = () =>
      testGateway({ providers: { 'google-vertex': { credential: { project } } }, models: model('google-vertex') });
    expect(make).toThrow(OptionsError);
    expect(make).toThrow('providers.google-vertex.credential: expected apiKey, or clientEmail and privateKey');
  });
});

describe('the token of a service account', () => {
  it.each([400, 200])('is not told, where the provider echoes it with status %i', async (status) => {
    let sent = '';
    const transport: Transport = {
      async send({ headers }) {
        sent = headers.authorization ?? '';
        const text = `You sent ${sent}, thanks.`;
        const body =
          status === 400
            ? { error: { code: 400, message: text, status: 'INVALID_ARGUMENT' } }
            : { candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] };
        const pieces = [new TextEncoder().encode(JSON.stringify(body))];
        return {
          status,
          headers: { 'content-type': 'application/json' },
          body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
        };
      },
    };
    const { post, records } = testGateway({
      providers: { 'google-vertex': { credential: { clientEmail, privateKey, project } } },
      models: model('google-vertex'),
      transport,
    });
    const { json } = await post(ask);
    const token = sent.replace('Bearer ', '');
    expect(token.split('.')).toHaveLength(3);
    expect(JSON.stringify([json, records])).not.toContain(token.slice(-40));
    expect(JSON.stringify(json)).toContain('thanks');
  });
});
