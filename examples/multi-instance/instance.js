// One of several gateways, a process of its own. Which of them a request reaches makes no difference: workspaces,
// budgets and keys are in the store that they share.
import process from 'node:process';
import { createGateway } from 'model-gateway';
import { serve } from 'model-gateway/node';
import { openStore } from './store.js';

const store = openStore(process.env.STORE_URL);
const gateway = createGateway({
  store,
  providers: { sandbox: {} },
  // The sandbox answers; the price is what you say it is.
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
