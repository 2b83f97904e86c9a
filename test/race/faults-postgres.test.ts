import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnPostgres, ownPostgres } from '../support/own-postgres.ts';
import { askPostgres, connectTo } from '../support/postgres-client.ts';
import { survivesFault } from '../support/race/fault-story.ts';
import { type Line, startLine } from '../support/race/line.ts';
import { openStore } from '../support/race/stores.ts';
import { describeWithOwnPostgres } from '../support/services.ts';

describeWithOwnPostgres('gateways whose PostgreSQL', (programs) => {
  let server: OwnPostgres;
  let line: Line;
  let hasSmallDisk = false;
  const ask = (text: string) => askPostgres(server.url, text);
  beforeAll(async () => {
    server = await ownPostgres(programs, ['max_connections=60']);
    line = await startLine(Number(new URL(server.url).port));
    hasSmallDisk = await server.addSmallDisk(12_000_000);
    if (hasSmallDisk) await ask(`CREATE TABLESPACE small LOCATION '${server.folder}/disk'`);
  }, 60_000);
  afterAll(async () => {
    line?.stop();
    await server?.stop();
  });

  const open = (url = server.url, schema = `s${randomUUID().slice(0, 8)}`) => {
    const through = url.replace(/:\d+\//, `:${line.port}/`);
    return () => openStore({ kind: 'postgres', url: through, schema });
  };

  it.each<[string, () => Promise<void>]>([
    [
      'is killed, and started again',
      async () => {
        await server.kill();
        await sleep(1_000);
        await server.start();
      },
    ],
    [
      'stands still',
      async () => {
        await server.pause();
        await sleep(5_000);
        await server.resume();
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
      'answers five seconds late',
      async () => {
        line.delayMs = 5_000;
        await sleep(6_000);
        line.delayMs = 0;
      },
    ],
  ])('%s: answers are right or a 503, in time, and the books are kept', async (_, harm) => {
    await survivesFault({ open: open(), harm });
  });

  it('ends sessions again and again: answers are right or a 503, in time, and the books are kept', async () => {
    const harm = async () => {
      const session = await connectTo(server.url);
      for (let turn = 0; turn < 20; turn++) {
        await session.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
        await sleep(50);
      }
      await session.end();
    };
    // What was ended before it had done anything is asked again.
    await survivesFault({ open: open(), harm, mayBeHarmless: true });
  });

  it('takes no writes: reads go on, answers are right or a 503, in time, and the books are kept', async () => {
    const harm = async () => {
      await ask('ALTER SYSTEM SET default_transaction_read_only = on');
      await ask('SELECT pg_reload_conf()');
      await sleep(1_500);
      const session = await connectTo(server.url);
      await session.query('SET default_transaction_read_only = off');
      await session.query('ALTER SYSTEM RESET default_transaction_read_only');
      await session.query('SELECT pg_reload_conf()');
      await session.end();
    };
    await survivesFault({ open: open(), harm, readsGoOn: true });
  });

  it('is full: reads go on, answers are right or a 503, in time, and the books are kept', async ({ skip }) => {
    if (!hasSmallDisk) skip('this machine does not let us mount a small disk');
    await ask('CREATE DATABASE full_disk TABLESPACE small');
    const url = server.url.replace(/postgres$/, 'full_disk');
    const session = await connectTo(url);
    await session.query('CREATE TABLE filler (text text)');
    const harm = async () => {
      await expect(async () => {
        for (;;) await session.query(`INSERT INTO filler SELECT repeat('x', 2000) FROM generate_series(1, 10)`);
      }).rejects.toThrow(/could not extend file/);
      // The tables have some room left, which is used up first.
      await sleep(3_000);
      await session.query('DROP TABLE filler');
      await session.query('CHECKPOINT');
    };
    await survivesFault({ open: open(url), harm, readsGoOn: true });
    await session.end();
  });
});
