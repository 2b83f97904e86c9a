import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { chatRequest, hello, managementKey, testGateway, testKey } from '../support/gateway.ts';

const body = { model: 'acme/fast', messages: hello };

function logged(options: object = {}) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const level = (name: string) => (fields: object, message: string) =>
    void lines.push({ level: name, fields: { ...fields }, message });
  const logger = { info: level('info'), warn: level('warn'), error: level('error') };
  return { lines, ...testGateway({ logger, ...options }) };
}

describe('a request that was refused', () => {
  it('has one log line, with the reason, and never the key', async () => {
    const { lines, gateway, post } = logged({
      apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }],
      store: new Keyv({ store: new Map() }),
    });
    const { key, record } = await gateway.apiKeys.create({});
    await gateway.apiKeys.setDisabled(record.hash, true);
    const refusals: [string, number, object][] = [
      ['sk-gw-junk-of-somebody', 401, { reason: 'The API key is not valid', apiKeyHash: null }],
      [key, 401, { reason: 'The API key is disabled', apiKeyHash: record.hash }],
      [managementKey, 403, { reason: expect.stringMatching(/permission inference/), apiKeyHash: expect.any(String) }],
    ];
    for (const [sent, status, fields] of refusals) {
      lines.length = 0;
      expect((await post(body, { authorization: `Bearer ${sent}` })).status).toBe(status);
      expect(lines).toEqual([{ level: 'info', fields: expect.objectContaining(fields), message: 'refusal' }]);
      expect(JSON.stringify(lines)).not.toContain(sent);
    }
  });
  it('fills no log: a line for each key in a minute, and then a sum with its hash', async () => {
    const operationRecords: object[] = [];
    const { lines, clock, post, gateway } = logged({
      apiKeys: [{ key: testKey }],
      store: new Keyv({ store: new Map() }),
      onOperation: (record: object) => void operationRecords.push(record),
    });
    const disabled = await gateway.apiKeys.create({});
    await gateway.apiKeys.setDisabled(disabled.record.hash, true);
    const limited = await gateway.apiKeys.create({ requestsPerMinute: 1 });
    const ask = (key: string) => post(body, { authorization: `Bearer ${key}` });
    await ask(limited.key);
    lines.length = 0;
    operationRecords.length = 0;
    for (let n = 0; n < 30; n++) for (const key of ['sk-junk', disabled.key, limited.key]) await ask(key);
    expect(operationRecords).toHaveLength(60);
    expect(lines.map(({ level, fields: { status } }) => [level, status])).toEqual([
      ['info', 401],
      ['info', 401],
      ['warn', 429],
    ]);
    lines.length = 0;
    await clock.advance(60_000);
    await ask('sk-junk');
    await ask(testKey);
    const sum = { level: 'warn', message: 'further refusals in a minute' };
    expect(lines).toMatchObject([
      { ...sum, fields: { status: 401, reason: 'The API key is not valid', apiKeyHash: null, further: 29 } },
      { ...sum, fields: { status: 401, apiKeyHash: disabled.record.hash, further: 29 } },
      { level: 'info', message: 'refusal', fields: { status: 401 } },
      { ...sum, fields: { status: 429, error: 'rate_limit_exceeded', apiKeyHash: limited.record.hash, further: 29 } },
      { message: 'request' },
    ]);
    for (const key of ['sk-junk', disabled.key, limited.key]) expect(JSON.stringify(lines)).not.toContain(key);
  });
});

describe('what an operator has to look at', () => {
  const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'openai', model: 'gpt-x' }] }];
  const providers = { openai: { apiKey: 'sk-rotated-0123456789' } };
  it.each([
    [401, {}, 'provider_credentials', 'set a key that the provider knows in providers.openai'],
    [
      403,
      {},
      'provider_credentials',
      'let the key use this model at the provider, or use another key, region or project',
    ],
    [402, {}, 'provider_credentials', 'pay the bill of this account, or raise its limit, at the provider'],
    [
      429,
      { code: 'insufficient_quota' },
      'provider_credentials',
      'pay the bill of this account, or raise its limit, at the provider',
    ],
  ])('is told apart: a key that the provider refuses with %s %j', async (status, more, errorType, todo) => {
    const { lines, post, upstream, gateway, clock } = logged({ providers, models });
    upstream.answer({
      status,
      body: { error: { message: 'Incorrect API key provided: sk-rotated-0123456789', ...more } },
    });
    const refused = await post(body);
    expect([refused.status, refused.json.error.metadata?.error_type]).toEqual([502, errorType]);
    const line = lines.find(({ message }) => message === 'provider refused the key');
    expect(line).toEqual({
      level: 'warn',
      message: 'provider refused the key',
      fields: {
        provider: 'openai',
        endpoint: 'openai',
        model: 'gpt-x',
        status: status === 429 ? 402 : status,
        key: 'sk-ro...6789',
        todo,
      },
    });
    expect(lines.find(({ message }) => message === 'request')?.fields.error).toBe(errorType);
    expect(JSON.stringify([lines, refused.json])).not.toContain('sk-rotated-0123456789');
    // The next one meets the cooldown, and says so; the state names it.
    const next = await post(body);
    expect([next.status, next.json.error.metadata?.error_type]).toEqual([503, 'cooldown']);
    expect(lines.filter(({ message }) => message === 'provider refused the key')).toHaveLength(1);
    expect(gateway.state()).toMatchObject({
      cooldowns: 1,
      inCooldown: [{ endpoint: 'openai', model: 'gpt-x', credentialId: null, until: expect.stringMatching(/^20/) }],
    });
    await clock.advance(3_600_000);
    expect(gateway.state()).toMatchObject({ cooldowns: 0, inCooldown: [] });
  });
  it('is none of it where a provider is down, or asks too much', async () => {
    const { lines, post, upstream } = logged({ providers, models, retry: { maxAttempts: 1 } });
    upstream.answer({ status: 500, body: { error: { message: 'oh' } } });
    expect((await post(body)).json.error.metadata?.error_type).toBe('provider_unavailable');
    upstream.answer({ status: 429, body: { error: { message: 'slow down' } } });
    expect((await post(body)).json.error.metadata?.error_type).toBe('rate_limit_exceeded');
    expect(lines.map(({ message }) => message)).toEqual(['request', 'request']);
  });
});

describe('a request that no provider served', () => {
  const coded = (code: string) => Object.assign(new Error(`${code} 10.0.0.7:443`), { code });
  it.each<[string, unknown]>([
    ['connection refused (ECONNREFUSED)', coded('ECONNREFUSED')],
    ['host not found (ENOTFOUND)', coded('ENOTFOUND')],
    ['the host name could not be looked up (EAI_AGAIN)', coded('EAI_AGAIN')],
    ['the certificate of the provider was not accepted (CERT_HAS_EXPIRED)', coded('CERT_HAS_EXPIRED')],
    [
      'no TLS connection could be made with the provider (ERR_SSL_WRONG_VERSION_NUMBER)',
      coded('ERR_SSL_WRONG_VERSION_NUMBER'),
    ],
    ['the connection was reset by the provider (ECONNRESET)', coded('ECONNRESET')],
    ['the provider closed the connection (UND_ERR_SOCKET)', coded('UND_ERR_SOCKET')],
    ['no connection could be made in time (UND_ERR_CONNECT_TIMEOUT)', coded('UND_ERR_CONNECT_TIMEOUT')],
    ['the response is not valid HTTP (HPE_INVALID_CONSTANT)', coded('HPE_INVALID_CONSTANT')],
  ])('has a log line that says: %s', async (failure, error) => {
    const { lines, post, records } = logged({
      retry: { maxAttempts: 1 },
      transport: { send: () => Promise.reject(new TypeError('fetch failed', { cause: error })) },
    });
    const answer = await post(body);
    expect(answer.status).toBe(502);
    expect(lines.find(({ message }) => message === 'request')).toMatchObject({
      level: 'warn',
      fields: { failures: [{ status: 502, failure }] },
    });
    expect(records[0]?.attempts[0]?.failure).toBe(failure);
    expect(JSON.stringify(lines) + answer.text).not.toContain('10.0.0.7');
  });
  it.each([
    ['https://new.example/v1/chat?key=hunter2', 'redirect (308) to https://new.example/v1/chat, not followed'],
    ['https://u:hunter2@new.example/v1#hunter2', 'redirect (308) to https://new.example/v1, not followed'],
    ['/login\u0007?next=hunter2', 'redirect (308) to /login, not followed'],
    [undefined, 'redirect (308), not followed'],
  ])('has where a redirect leads in its log line, and not in its answer: %s', async (location, failure) => {
    const { lines, post, upstream } = logged({ retry: { maxAttempts: 1 } });
    upstream.always({ status: 308, headers: location === undefined ? {} : { location }, body: 'Moved to new.example' });
    const answer = await post(body);
    expect(answer.status).toBe(502);
    expect(answer.json.error.message).toContain('a redirect (308), and the gateway follows none: baseUrl');
    expect(lines.find(({ message }) => message === 'request')?.fields.failures).toEqual([
      { provider: expect.any(String), status: 308, failure },
    ]);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
  it("never has the provider's own words: they may quote the prompt", async () => {
    const { lines, post, upstream } = logged({ retry: { maxAttempts: 1 } });
    upstream.always({ status: 500, body: { error: { message: 'Cannot read "my secret prompt"' } } });
    await post(body);
    const fields = lines.find(({ message }) => message === 'request')?.fields;
    expect(fields?.failures).toEqual([{ provider: expect.any(String), status: 500 }]);
    expect(JSON.stringify(lines)).not.toContain('secret prompt');
  });
});

describe('the record of a request that failed', () => {
  it("has the provider's words, without its key, and the rule that excluded each endpoint", async () => {
    const { records, upstream, gateway, run } = testGateway();
    upstream.always({ status: 400, body: { error: { message: `Bad  input\n${'x'.repeat(2000)}` } } });
    await (await run(gateway.fetch(chatRequest(body)))).text();
    const message = records[0]?.attempts[0]?.message as string;
    expect(message).toMatch(/^Bad input x+…$/);
    expect(message.length).toBeLessThanOrEqual(500);
    expect(records[0]?.generations[0]?.excluded).toEqual([]);

    await (await run(gateway.fetch(chatRequest({ ...body, provider: { only: ['nobody'] } })))).text();
    expect(records[1]?.generations[0]?.excluded).toEqual(
      expect.arrayContaining([{ model: 'acme/fast', provider: expect.any(String), filter: 'only' }]),
    );
  });
});
