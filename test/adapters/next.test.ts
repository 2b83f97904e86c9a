import { describe, expect, it } from 'vitest';
import { type GatewayRoute, gatewayRoute } from '../../adapters/hosts/next.ts';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import type { Gateway } from '../../src/index.ts';
import { fakeGateway } from '../contract/adapters/fake-gateway.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

/** Calls the handlers as the app router does for `app${folder}/[...path]/route.ts`. */
function appRouter(route: GatewayRoute, folder: string): Gateway['handle'] {
  return (request) => {
    const path = new URL(request.url).pathname.slice(folder.length + 1).split('/');
    return route[request.method as keyof GatewayRoute](request, { params: Promise.resolve({ path }) });
  };
}

adapterContract('Next route handlers, behind a bridge to node:http', {
  start(gateway) {
    const handle = appRouter(gatewayRoute(gateway), '/api/v1');
    return hostListener(gatewayListener({ ...gateway, handle }), '/api/v1');
  },
});

describe('gatewayRoute', () => {
  const echoed = async (url: string, params: object, basePath?: string) => {
    const { POST } = gatewayRoute(fakeGateway('streams'), { basePath });
    const response = await POST(new Request(url, { method: 'POST', body: '{}' }), { params: Promise.resolve(params) });
    return { status: response.status, ...(await response.json()) };
  };

  it('finds its folder by the number of caught segments, whatever they are called', async () => {
    expect(await echoed('http://h/v1/echo', { path: ['echo'] })).toMatchObject({ basePath: '/v1' });
    expect(await echoed('http://h/api/acme/llm/echo?x=1', { tenant: 'acme', rest: ['echo'] })).toMatchObject({
      basePath: '/api/acme/llm',
      search: '?x=1',
    });
  });

  it('is not misled by a trailing slash or a decoded segment', async () => {
    expect(await echoed('http://h/v1/a%2Fb/echo/', { path: ['a/b', 'echo'] })).toMatchObject({
      status: 404,
      error: { message: 'nothing at /a%2Fb/echo/' },
    });
  });

  it('takes the base path it is given', async () => {
    expect(await echoed('http://h/deep/v1/echo', { path: ['v1', 'echo'] }, '/deep/v1')).toMatchObject({
      basePath: '/deep/v1',
    });
  });
});
