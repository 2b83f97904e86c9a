// One of several gateways, in a separate process. A request can go to any of them, because they share workspaces,
// budgets and keys in one store.
import process from 'node:process';
import { createGateway } from 'model-gateway';
import { serve } from 'model-gateway/node';
import { openStore } from './store.js';

const store = openStore(process.env.STORE_URL);
const gateway = createGateway({
  store,
  providers: { sandbox: {} },
  // The sandbox responds; this price is made up.
  models: [
    {
      slug: 'example/priced',
      endpoints: [{ provider: 'sandbox', model: 'lorem', pricing: { prompt: '0.0000001', completion: '0.00001' } }],
    },
  ],
  apiKeys: [{ key: process.env.ADMIN_KEY, permissions: ['management'] }],
});
const server = await serve(gateway, { port: 0 });
process.send(server.url);

process.once('disconnect', async () => {
  await server.close();
  await gateway.close();
  await store.disconnect();
});
