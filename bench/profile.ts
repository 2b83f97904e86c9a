// `node bench/profile.ts [json|stream|import] [--top 40] [--out folder]`: where the CPU time of the gateway goes, under
// load and at its first import.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './built.ts';
import type { RateQuestion } from './load.ts';
import { startWorker } from './processes.ts';
import { bundledSources, formatShares, summarise } from './profile-summary.ts';
import { startProfile, stopProfile } from './profiling.ts';
import { target } from './throughput.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { top: { type: 'string', default: '40' }, out: { type: 'string' } },
});
const kinds = (['import', 'json', 'stream'] as const).filter(
  (kind) => positionals.length === 0 || positionals.includes(kind),
);
const locate = bundledSources((url) => (url.includes('/dist/') ? readFileSync(fileURLToPath(url), 'utf8') : null));

await ensureBuilt();
for (const kind of kinds) {
  const profile = kind === 'import' ? await profileImport() : await profileUnderLoad(kind);
  if (values.out !== undefined) {
    mkdirSync(values.out, { recursive: true });
    // Chrome's developer tools open it.
    writeFileSync(join(values.out, `${kind}.cpuprofile`), JSON.stringify(profile));
  }
  print(kind, profile);
}

/** In this process, which has not loaded the package. */
async function profileImport(): Promise<Profiler.Profile> {
  await startProfile();
  await import(new URL('../dist/index.js', import.meta.url).href);
  return stopProfile();
}

async function profileUnderLoad(kind: 'json' | 'stream'): Promise<Profiler.Profile> {
  const upstream = await startWorker('upstream.ts', 'peer');
  const load = await startWorker('load.ts', 'peer');
  const server = await startWorker('serve-gateway.ts', 'under-test', [String(upstream.port)]);
  await upstream.ask('mode', kind);
  const question: RateQuestion = {
    ...target(server, 'gateway', { kind }),
    connections: kind === 'json' ? 64 : 32,
    durationMs: 3000,
  };
  await load.ask('open', question);
  await load.ask('rate', question);
  await server.ask('startProfile');
  await load.ask('rate', { ...question, durationMs: 5000 });
  const profile = await server.ask<Profiler.Profile>('stopProfile');
  for (const worker of [load, server, upstream]) await worker.stop();
  return profile;
}

function print(kind: string, profile: Profiler.Profile): void {
  const { busyMs, groups, functions, onBehalf } = summarise(profile, locate);
  const top = Number(values.top);
  process.stdout.write(
    `${kind}: ${busyMs.toFixed(0)} ms not idle\n\n` +
      `By file or package (self time)\n${formatShares(groups, busyMs, top)}\n\n` +
      `By function (self time)\n${formatShares(functions, busyMs, top)}\n\n` +
      `On whose behalf (self time, with that of the libraries and of Node below it)\n${formatShares(onBehalf, busyMs, top)}\n\n`,
  );
}
