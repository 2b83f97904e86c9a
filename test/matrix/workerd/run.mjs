// workerd itself rather than miniflare: its `test` command needs neither a port nor the dozen packages around it.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { app, runEssentials } from '../run-essentials.mjs';

const workerd = join(import.meta.dirname, 'node_modules/.bin/workerd');

await runEssentials(
  'workerd',
  async (program) => {
    const worker = join(app, 'worker.mjs');
    // As its users' bundlers do. Without Node's modules: what asks for one fails to bundle.
    await build({
      entryPoints: [program],
      outfile: worker,
      bundle: true,
      format: 'esm',
      target: 'es2023',
      platform: 'neutral',
      conditions: ['workerd', 'worker', 'browser'],
      mainFields: ['module', 'main'],
      logLevel: 'warning',
    });
    const config = join(app, 'workerd.capnp');
    writeFileSync(config, configText(basename(worker)));
    return [workerd, 'test', config];
  },
  { start: 'export default { test: main };' },
);

function configText(module) {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The upstream is on the loopback interface.
    (name = "internet", network = (allow = ["private", "public"])),
  ],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "${module}")],
  compatibilityDate = "2026-01-01",
);
`;
}
