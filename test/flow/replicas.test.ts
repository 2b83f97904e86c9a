import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

type Endpoints = NonNullable<GatewayOptions['models']>[number]['endpoints'];

const pricing = testPricing;
const own = { baseUrl: 'https://own.test/v1?key=query-0123456789', apiKey: 'sk-own-0123456789' };

function withEndpoints(endpoints: Endpoints, options: Partial<GatewayOptions> = {}) {
  const lines: object[] = [];
  const log = (fields: object) => void lines.push(fields);
  const tested = testGateway({
    providers: { own, other: { baseUrl: 'https://other.test/v1' } },
    models: [{ slug: 'acme/chat', endpoints }],
    retry: { attemptsPerEndpoint: 1 },
    logger: { info: log, warn: log, error: log },
    ...options,
  });
  const { upstream, post, records } = tested;
  /** Names of the endpoints of a request that only the last of them serves. */
  const named = async () => {
    for (let n = 1; n < endpoints.length; n++) upstream.answer({ status: 500, body: errorBody('No') });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'acme/chat', messages: hello })).status).toBe(200);
    return records.at(-1)?.attempts.map(({ endpoint }) => endpoint);
  };
  return { ...tested, named, lines };
}

describe('the endpoints of a model', () => {
  it('have the names that the operator has chosen, in records, stored records and log lines', async () => {
    const { named, records, lines, call, gateway } = withEndpoints(
      [
        { provider: 'own', model: 'm', variant: 'a', name: 'rack-1/gpu:0', pricing },
        { provider: 'own', model: 'm', variant: 'b', name: 'rack-2/gpu:1', pricing },
      ],
      { records: { enabled: true } },
    );
    expect(await named()).toEqual(['rack-1/gpu:0', 'rack-2/gpu:1']);
    expect(records[0]?.generations[0]?.endpoint).toBe('rack-2/gpu:1');
    expect(lines.find((line) => 'failures' in line)).toMatchObject({ failures: [{ endpoint: 'rack-1/gpu:0' }] });
    const { json } = await call('GET', `/generation?id=${records[0]?.id}`);
    expect(json.data.attempts).toMatchObject([{ endpoint: 'rack-1/gpu:0' }, { endpoint: 'rack-2/gpu:1' }]);
    await gateway.close();
  });
  it('have their slug as a name otherwise, and where that is shared the name of the model beside it', async () => {
    const { named } = withEndpoints([
      { provider: 'own', model: 'm-1', pricing },
      { provider: 'own', model: 'm-2', pricing },
      { provider: 'own', model: 'm-3', variant: 'fast', pricing },
      { provider: 'other', model: 'm', pricing },
    ]);
    expect(await named()).toEqual(['own:m-1', 'own:m-2', 'own/fast', 'other']);
  });
  it('are not named after their address, which may hold a secret', async () => {
    const { named, records, lines } = withEndpoints([{ provider: 'own', model: 'm', pricing }]);
    expect(await named()).toEqual(['own']);
    expect(JSON.stringify([records, lines])).not.toMatch(/0123456789|own\.test/);
  });
  it('of two may not have one name', () => {
    const one = { provider: 'own', model: 'm', name: 'replica' };
    expect(() => withEndpoints([one, { ...one, variant: 'b' }])).toThrow(
      'models[0].endpoints[1].name: expected a name that no other endpoint of the model has',
    );
  });
  it.each(['', 'two words', 'x'.repeat(65), 'http://user@[::1]'])('may not be called %j', (name) => {
    expect(() => withEndpoints([{ provider: 'own', model: 'm', name }])).toThrow(/models\[0\]\.endpoints\[0\]\.name/);
  });
});
