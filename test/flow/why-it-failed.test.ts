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
  it('fills no log: 60 lines in a minute, and a count', async () => {
    const { lines, clock, post, operationRecords } = withRecords();
    const ask = () => post(body, { authorization: 'Bearer sk-junk' });
    for (let n = 0; n < 100; n++) await ask();
    expect([lines.length, operationRecords.length]).toEqual([60, 100]);
    await clock.advance(60_000);
    await ask();
    expect(lines.at(-1)?.fields).toMatchObject({ status: 401, unlogged: 40 });
    await ask();
    expect(lines.at(-1)?.fields.unlogged).toBeUndefined();
  });
});

function withRecords() {
  const operationRecords: object[] = [];
  return { operationRecords, ...logged({ onOperation: (record: object) => void operationRecords.push(record) }) };
}

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
