import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { describe, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { expectNoCanary, type RawBytes } from '../support/canary/story.ts';
import { ownPostgres } from '../support/own-postgres.ts';
import { askPostgres } from '../support/postgres-client.ts';
import { startLine } from '../support/race/line.ts';
import { newSqliteFile, openStore } from '../support/race/stores.ts';
import { command } from '../support/redis-cluster.ts';
import { describeWithOwnPostgres, describeWithOwnRedis } from '../support/services.ts';
import { startRedis } from '../support/start-service.ts';

describe('no secret is in an answer, a log, a record, an error or the store', () => {
  it('in memory', async () => {
    const map = new Map<string, unknown>();
    await expectNoCanary({
      store: new Keyv({ store: map }),
      dump: async () => ({ map: JSON.stringify([...map]) }),
      plant: async (text) => void map.set('planted', text),
      close: async () => {},
    });
  });

  it('on SQLite, in the file and its log', async () => {
    const place = await newSqliteFile();
    const { path } = place.at;
    const store = sqliteStore(path);
    await expectNoCanary({
      store,
      dump: async () => filesIn(join(path, '..')),
      plant: (text) => store.set('planted', text).then(() => undefined),
      async close() {
        await store.disconnect();
        await place.clear();
      },
    });
  });

  describeWithOwnRedis('on Redis', (program) => {
    it('in its keys, its files and what is sent to it', async () => {
      // Uncompressed, or a secret could hide in what it has saved.
      const server = await startRedis(program, {
        settings: ['--rdbcompression', 'no', '--appendonly', 'yes', '--appendfsync', 'always'],
      });
      const line = await startLine(server.port, { isRecorded: true });
      const { store, close } = openStore({ kind: 'redis', url: `redis://127.0.0.1:${line.port}`, namespace: 'canary' });
      await expectNoCanary({
        store,
        async dump() {
          await command(server, ['SAVE']);
          const client = await createClient({ url: server.url }).connect();
          const keys: RawBytes = {};
          for await (const names of client.scanIterator()) {
            for (const name of names) keys[`key ${name}`] = `${name} ${await client.sendCommand(['DUMP', name])}`;
          }
          client.destroy();
          return { ...keys, ...filesIn(server.folder), 'the line': line.heard() };
        },
        plant: async (text) => void (await command(server, ['SET', 'planted', text])),
        async close() {
          await close();
          line.stop();
          await server.stop();
        },
      });
    });
  });

  describeWithOwnPostgres('on PostgreSQL', (programs) => {
    it('in its tables, its files and what is sent to it', async () => {
      const server = await ownPostgres(programs);
      const line = await startLine(Number(new URL(server.url).port), { isRecorded: true });
      const url = server.url.replace(/:\d+\//, `:${line.port}/`);
      const { store, close } = openStore({ kind: 'postgres', url, schema: 'canary' });
      await expectNoCanary({
        store,
        async dump() {
          await askPostgres(server.url, 'CHECKPOINT');
          const rows: RawBytes = {};
          const tables = await askPostgres(server.url, `SELECT tablename FROM pg_tables WHERE schemaname = 'canary'`);
          for (const { tablename } of tables) {
            // Unfolded: long values are compressed in the files.
            rows[`table ${tablename}`] = JSON.stringify(
              await askPostgres(server.url, `SELECT row_to_json(t)::text AS row FROM canary."${tablename}" AS t`),
            );
          }
          return { ...rows, ...filesIn(join(server.folder, 'data')), 'the line': line.heard() };
        },
        async plant(text) {
          await askPostgres(server.url, 'CREATE TABLE canary.planted (text text)');
          await askPostgres(server.url, 'INSERT INTO canary.planted VALUES ($1)', [text]);
        },
        async close() {
          await close();
          line.stop();
          await server.stop();
        },
      });
    });
  });
});

/** Every file below a folder, as it is. */
function filesIn(folder: string): RawBytes {
  const files: RawBytes = {};
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) files[`file ${name}`] = readFileSync(path);
  }
  return files;
}
