import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, checkVersion, runEssentials } from '../run-essentials.mjs';
import { optionsText, serveAndCheck } from '../served.mjs';

const bun = join(import.meta.dirname, 'node_modules/.bin/bun');
checkVersion(bun, 'bun', import.meta.dirname);
await runEssentials('bun', (program) => [bun, 'run', program], {
  hasFiles: true,
  served: () =>
    serveAndCheck(
      (upstreamUrl, port) => {
        const program = join(app, 'bun-served.mjs');
        writeFileSync(
          program,
          `import { createGateway } from 'model-gateway';
import { gatewayFetch, gatewayWebSocket } from 'model-gateway/bun';
import { consoleHandler } from 'model-gateway/console';
const gateway = createGateway(${optionsText(upstreamUrl)});
const page = consoleHandler(gateway);
Bun.serve({
  port: ${port},
  hostname: '127.0.0.1',
  routes: { '/console': page, '/console/*': page },
  fetch: gatewayFetch(gateway),
  websocket: gatewayWebSocket,
});
`,
        );
        return [bun, 'run', program];
      },
      { hasConsole: true },
    ),
});
