import { describe, expect, it } from 'vitest';
import { type BunServer, gatewayFetch, serve } from '../../adapters/hosts/bun.ts';
import { fakeGateway } from '../contract/adapters/fake-gateway.ts';

// That Bun itself streams, aborts and drains is shown by test/matrix, which runs it.
describe('gatewayFetch', () => {
  it('switches the idle time-out of the connection off and passes the mount path', async () => {
    const timeouts: [Request, number][] = [];
    const server: BunServer = { timeout: (...args) => void timeouts.push(args), stop: async () => {} };
    const request = new Request('http://h/api/llm/echo', { method: 'POST', body: '{"a":1}' });
    const response = await gatewayFetch(fakeGateway('streams'), { basePath: '/api/llm' })(request, server);
    expect(await response?.json()).toMatchObject({ basePath: '/api/llm', body: { a: 1 } });
    expect(timeouts).toEqual([[request, 0]]);
  });
});

describe('serve of model-gateway/bun', () => {
  it('says where to go when it is not run by Bun', () => {
    expect(() => serve(fakeGateway('streams'))).toThrow('model-gateway/node');
  });
});
