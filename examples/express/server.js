import process from 'node:process';
import express from 'express';
import { createGateway } from 'model-gateway';
import { gatewayMiddleware } from 'model-gateway/express';

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

const app = express();
app.use('/v1', gatewayMiddleware(gateway));
// The gateway also works after a body parser; the parser's size limit then applies.
app.use(express.json({ limit: '10mb' }));
app.use('/parsed/v1', gatewayMiddleware(gateway));
app.get('/', (_req, res) => {
  res.send('The page of the app\n');
});

const port = Number(process.env.PORT ?? 3000);
app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/v1`));
