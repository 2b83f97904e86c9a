import { serve, toNodeHandler } from '../../adapters/node.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

adapterContract('toNodeHandler', {
  start: (gateway) => hostListener(toNodeHandler(gateway), '/v1'),
});

adapterContract('serve below another path', {
  async start(gateway) {
    const server = await serve(gateway, { port: 0, basePath: '/api/llm', drainMs: 0 });
    return { baseUrl: server.url, close: () => server.close() };
  },
});
