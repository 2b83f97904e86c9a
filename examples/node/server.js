import { createServer } from 'node:http';
import process from 'node:process';
import { createGateway } from 'model-gateway';
import { gatewayListener } from 'model-gateway/node';

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

const handleModels = gatewayListener(gateway);
const server = createServer((req, res) => {
  if (req.url?.startsWith('/v1/')) handleModels(req, res);
  else res.end('The page of the app\n');
});

const port = Number(process.env.PORT ?? 3000);
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/v1`));
