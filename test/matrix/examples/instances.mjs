// The example of several gateways on one store, run to its end on servers of its own where they are installed, else on
// those that REDIS_URL and DATABASE_URL name.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { provideServices, services } from '../../../scripts/services.mjs';

/**
 * @param folder  where the example is installed
 * @param report  takes a name, whether it holds, and what was seen
 */
export async function checkInstances({ folder, report }) {
  const installed = services.filter((service) => service.find() !== null);
  // On a port where nobody listens none is found, so that each is started.
  const own = await provideServices(installed.map((service) => ({ ...service, variable: service.name, port: 1 })));
  try {
    for (const { name, variable } of services) {
      const url = own.env[name] ?? process.env[variable];
      if (url) await checkOn(name, { [variable]: url }, folder, report);
      else if (process.env.REQUIRE_SERVICES === '1') report(`multi-instance: on ${name}`, false, 'there is none');
      else process.stdout.write(`\n!!! SKIPPED: multi-instance on ${name}, which is not here: set ${variable} !!!\n\n`);
    }
  } finally {
    own.stop();
  }
  const { code, output } = await run(folder, { REDIS_URL: 'redis://127.0.0.1:1' });
  const isTold = code === 1 && output.includes('There is no server where the variable says.');
  report('multi-instance: says what to do where there is no server', isTold, output);
}

async function checkOn(name, env, folder, report) {
  const { code, output } = await run(folder, { ...env, INSTANCES: '3' });
  report(`multi-instance: three instances on ${name} run to the end`, code === 0, output);
  const [, spent, limit] = /Spent \$([\d.]+) of \$([\d.]+): never more than the budget/.exec(output) ?? [];
  report(`multi-instance: on ${name} the budget holds`, Number(spent) <= Number(limit), output);
  // Not all of it: while requests are in flight more is held than they will cost, and the last ones are refused meanwhile.
  report(`multi-instance: on ${name} it can be used`, Number(spent) > 0.5 * Number(limit), output);
  const counted = [...output.matchAll(/ counts \$([\d.]+)/g)].map(([, usd]) => usd);
  report(`multi-instance: all count the same on ${name}`, counted.join() === [spent, spent, spent].join(), output);
}

async function run(folder, env) {
  const rest = { ...process.env, REDIS_URL: '', DATABASE_URL: '' };
  const child = spawn('npm', ['start', '--silent'], {
    cwd: folder,
    env: { ...rest, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 120_000);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  return { code, output };
}
