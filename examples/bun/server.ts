import { createGateway } from 'model-gateway';
import { gatewayFetch } from 'model-gateway/bun';

// One gateway for the whole process.
const gateway = createGateway({
  providers: {
    // Responds without a key or a network.
    sandbox: {},
    // Any OpenAI-compatible server, here Ollama: ask for "local/<its model>".
    local: { baseUrl: process.env.LOCAL_BASE_URL ?? 'http://127.0.0.1:11434/v1' },
  },
  apiKeys: [{ key: process.env.GATEWAY_API_KEY ?? 'only-for-trying-out' }],
});

const handleModels = gatewayFetch(gateway);
const server = Bun.serve({
  port: Number(process.env.PORT ?? 3000),
  hostname: '127.0.0.1',
  fetch(request, server) {
    if (new URL(request.url).pathname.startsWith('/v1/')) return handleModels(request, server);
    return new Response('The page of the app\n');
  },
});
console.log(`${server.url}v1`);
