// workerd itself rather than miniflare: its `test` command needs neither a port nor the dozen packages around it.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { app, runEssentials } from '../run-essentials.mjs';
import { optionsText, serveAndCheck } from '../served.mjs';

const workerd = join(import.meta.dirname, 'node_modules/.bin/workerd');

await runEssentials(
  'workerd',
  async (program) => {
    const worker = join(app, 'worker.mjs');
    await bundle(program, worker);
    const config = join(app, 'workerd.capnp');
    writeFileSync(config, configText(basename(worker)));
    return [workerd, 'test', config];
  },
  {
    start: 'export default { test: main };',
    served: () =>
      serveAndCheck(
        async (upstreamUrl, port) => {
          const program = join(app, 'worker-served.mjs');
          // In module scope, where a worker may open nothing, keep no time and draw no random number.
          writeFileSync(
            program,
            `import { createGateway } from 'model-gateway';
import { consoleHandler } from 'model-gateway/console';
import { gatewayWorker } from 'model-gateway/workers';
const gateway = createGateway(${optionsText(upstreamUrl)});
const [api, page] = [gatewayWorker(gateway), gatewayWorker(consoleHandler(gateway))];
export default {
  fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    return (pathname.startsWith('/console') ? page : api).fetch(request, env, context);
  },
};
`,
          );
          const worker = join(app, 'worker-served-bundle.mjs');
          await bundle(program, worker);
          const config = join(app, 'workerd-served.capnp');
          const socket = `sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],`;
          writeFileSync(config, configText(basename(worker), socket));
          return [workerd, 'serve', config];
        },
        { hasConsole: true },
      ),
  },
);

/** As its users' bundlers do. Without Node's modules: what asks for one fails to bundle. */
async function bundle(program, outfile) {
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  });
}

function configText(module, sockets = '') {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The upstream is on the loopback interface.
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  ${sockets}
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "${module}")],
  compatibilityDate = "2026-01-01",
);
`;
}
