import { createGateway, type Gateway } from 'model-gateway';

const create = () =>
  createGateway({
    providers: {
      // Responds without a key or a network.
      sandbox: {},
      // Any OpenAI-compatible server, here Ollama: ask for "local/<its model>".
      local: { baseUrl: process.env.LOCAL_BASE_URL ?? 'http://127.0.0.1:11434/v1' },
    },
    // With management, the key also opens the console.
    apiKeys: [{ key: process.env.GATEWAY_API_KEY ?? 'only-for-trying-out', permissions: ['inference', 'management'] }],
    records: { enabled: true },
  });

// One gateway for the whole process. `next dev` runs this file again after each edit: a gateway in a plain variable would
// then be a second one, with its own counts, caches and connections, and nobody would close the first. An edit of the
// options above needs a restart of `next dev`.
const kept = globalThis as { modelGateway?: Gateway };
kept.modelGateway ??= create();

export const gateway = kept.modelGateway;
