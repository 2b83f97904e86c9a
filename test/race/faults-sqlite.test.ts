import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type SqliteStore, sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { survivesFault } from '../support/race/fault-story.ts';
import type { OpenedStore } from '../support/race/stores.ts';

describe('gateways whose SQLite file', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-race-sqlite-'));
  let files = 0;
  const newFile = () => join(folder, `gateway-${files++}.db`);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Opens stores on one file, and remembers them. */
  function opening(path: string): { open: () => OpenedStore; stores: SqliteStore[] } {
    const stores: SqliteStore[] = [];
    const open = () => {
      const store = sqliteStore(path);
      stores.push(store);
      return { store, close: () => store.disconnect() };
    };
    return { open, stores };
  }

  it('is locked by somebody else who writes: reads go on, answers are right or a 503, in time, and the books are kept', async () => {
    const path = newFile();
    const { open } = opening(path);
    const harm = async () => {
      const other = new DatabaseSync(path, { timeout: 5_000 });
      other.exec('BEGIN IMMEDIATE');
      await sleep(5_000);
      other.exec('COMMIT');
      other.close();
    };
    await survivesFault({ open, harm, readsGoOn: true });
  });

  it('takes no writes: reads go on, answers are right or a 503, in time, and the books are kept', async () => {
    const { open, stores } = opening(newFile());
    const harm = async () => {
      // Every write then fails as on a file system that has become read-only.
      for (const { database } of stores) database.exec('PRAGMA query_only = ON');
      await sleep(1_500);
      for (const { database } of stores) database.exec('PRAGMA query_only = OFF');
    };
    await survivesFault({ open, harm, readsGoOn: true });
  });

  it('may grow no more: reads go on, answers are right or a 503, in time, and the books are kept', async () => {
    const { open, stores } = opening(newFile());
    const harm = async () => {
      for (const { database } of stores) {
        const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
        database.exec(`PRAGMA max_page_count = ${pages}`);
      }
      await sleep(3_000);
      for (const { database } of stores) database.exec('PRAGMA max_page_count = 1000000');
    };
    await survivesFault({ open, harm, readsGoOn: true });
  });

  describe('on a disk of its own', () => {
    const disk = mkdtempSync(join(tmpdir(), 'model-gateway-race-disk-'));
    let isMounted = false;
    beforeAll(() => {
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6000000', 'tmpfs', disk], { stdio: 'ignore' });
        isMounted = true;
      } catch {
        // Who may not mount has no small disk.
      }
    });
    afterAll(() => {
      if (isMounted) execFileSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
    });

    it('is full: answers are right or a 503, in time, and the books are kept', async ({ skip }) => {
      if (!isMounted) skip('this machine does not let us mount a small disk');
      const path = join(disk, 'gateway.db');
      const { open } = opening(path);
      const filler = join(disk, 'filler');
      const harm = async () => {
        // To the last byte.
        for (let size = 4_096_000; size >= 512; ) {
          try {
            writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
          } catch {
            size = Math.floor(size / 2);
          }
        }
        if (statSync(filler).size === 0) throw new Error('It was not filled');
        await sleep(2_000);
        rmSync(filler);
      };
      await survivesFault({ open, harm });
    });
  });
});
