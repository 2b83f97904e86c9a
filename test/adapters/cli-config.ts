import type { GatewayOptions } from '../../src/index.ts';

// What cli.test.ts serves.
const options: GatewayOptions = {
  basePath: '/llm',
  providers: { sandbox: {} },
  models: [{ slug: 'acme/echo', endpoints: [{ provider: 'sandbox', model: 'echo' }] }],
  apiKeys: [{ key: 'key-of-the-config' }],
};

export default options;
