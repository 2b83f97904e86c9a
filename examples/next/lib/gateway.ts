import { createGateway } from 'model-gateway';

// One gateway for the whole process.
export const gateway = createGateway({
  providers: {
    // Responds without a key or a network.
    sandbox: {},
    // Any OpenAI-compatible server, here Ollama: ask for "local/<its model>".
    local: { baseUrl: process.env.LOCAL_BASE_URL ?? 'http://127.0.0.1:11434/v1' },
  },
  apiKeys: [{ key: process.env.GATEWAY_API_KEY ?? 'only-for-trying-out' }],
});
