import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, checkVersion, runEssentials } from '../run-essentials.mjs';
import { optionsText, serveAndCheck } from '../served.mjs';

const deno = join(import.meta.dirname, 'node_modules/.bin/deno');
checkVersion(deno, 'deno', import.meta.dirname);
// It may use the network, and files in its own folder for SQLite: no others, no environment, nothing downloaded.
const files = [`--allow-read=${app}`, `--allow-write=${app}`];
const flags = ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-net', ...files];
await runEssentials('deno', (program) => [deno, ...flags, program], {
  hasFiles: true,
  served: () =>
    serveAndCheck(
      (upstreamUrl, port) => {
        const program = join(app, 'deno-served.mjs');
        writeFileSync(
          program,
          `import { createGateway } from 'model-gateway';
import { consoleHandler } from 'model-gateway/console';
import { gatewayHandler } from 'model-gateway/deno';
const gateway = createGateway(${optionsText(upstreamUrl)});
const [api, page] = [gatewayHandler(gateway), gatewayHandler(consoleHandler(gateway))];
const handle = (request) => (new URL(request.url).pathname.startsWith('/console') ? page(request) : api(request));
Deno.serve({ port: ${port}, hostname: '127.0.0.1' }, handle);
`,
        );
        return [deno, ...flags, program];
      },
      { hasConsole: true },
    ),
});
