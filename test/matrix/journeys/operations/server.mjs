// The server that main.mjs operates.
import express from 'express';
import { createGateway } from 'model-gateway';
import { gatewayMiddleware } from 'model-gateway/express';
import pino from 'pino';

const logger = pino();
const gateway = createGateway({
  providers: { sandbox: {} },
  apiKeys: [{ key: 'sk-of-the-app' }, { key: 'sk-of-another' }, { key: 'sk-of-a-third' }],
  rateLimits: { key: { requestsPerMinute: 3 } },
  overload: { maxInFlight: 2 },
  logger,
});
const app = express();
let isClosing = false;
app.get('/health', (_, res) => res.status(isClosing ? 503 : 200).json({ isClosing }));
app.use('/v1', gatewayMiddleware(gateway));
const server = app.listen(0, '127.0.0.1', () => logger.info({ port: server.address().port }, 'listening'));

process.on('SIGTERM', async () => {
  isClosing = true;
  // Open responses may finish; the rest is cut.
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const cut = setTimeout(() => gateway.close(), 2_000);
  await closed;
  clearTimeout(cut);
  await gateway.close();
  logger.info('closed');
});
