import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, it } from 'vitest';
import { survivesFault } from '../support/race/fault-story.ts';
import { type Line, startLine } from '../support/race/line.ts';
import { openStore } from '../support/race/stores.ts';
import { command } from '../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../support/services.ts';
import { freePort, type StartedService, startRedis } from '../support/start-service.ts';

describeWithOwnRedis('gateways whose Redis', (program) => {
  let folder: string;
  let port: number;
  let server: StartedService;
  let line: Line;
  // What was answered outlives the server, whenever it dies.
  const start = async () => {
    const settings = ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always'];
    server = await startRedis(program, { port, settings });
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'model-gateway-race-redis-'));
    port = await freePort();
    await start();
    line = await startLine(port);
  });
  afterAll(async () => {
    line?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each<[string, () => Promise<void>]>([
    [
      'is killed, and started again',
      async () => {
        process.kill(server.pid, 'SIGKILL');
        await server.stop();
        await sleep(1_000);
        await start();
      },
    ],
    [
      'stands still',
      async () => {
        process.kill(server.pid, 'SIGSTOP');
        await sleep(2_000);
        process.kill(server.pid, 'SIGCONT');
      },
    ],
    [
      'resets its connections again and again',
      async () => {
        for (let n = 0; n < 15; n++) {
          line.reset();
          await sleep(100);
        }
      },
    ],
    [
      'takes no writes',
      async () => {
        await command(server, ['REPLICAOF', '127.0.0.1', '1']);
        await sleep(1_500);
        await command(server, ['REPLICAOF', 'NO', 'ONE']);
      },
    ],
    [
      'is full',
      async () => {
        await command(server, ['CONFIG', 'SET', 'maxmemory', '1']);
        await sleep(1_500);
        await command(server, ['CONFIG', 'SET', 'maxmemory', '0']);
      },
    ],
    [
      'answers five seconds late',
      async () => {
        line.delayMs = 5_000;
        await sleep(6_000);
        line.delayMs = 0;
      },
    ],
  ])('%s: answers are right or a 503, in time, and the books are kept', async (_, harm) => {
    const open = () => openStore({ kind: 'redis', url: `redis://127.0.0.1:${line.port}`, namespace: 'faults' });
    await survivesFault({ open, harm });
  });
});
