import { mkdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyvStorageAdapter } from 'keyv';

/** The adapter of a store that nobody has heard of: a file for each key, replaced as a whole. */
export function fileAdapter(folder: string): KeyvStorageAdapter {
  mkdirSync(folder, { recursive: true });
  let writes = 0;
  const fileOf = (key: string) => join(folder, encodeURIComponent(key));
  const adapter = {
    opts: {},
    namespace: undefined,
    async get(key: string) {
      try {
        return await readFile(fileOf(key), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async set(key: string, value: string) {
      const draft = `${fileOf(key)}.${process.pid}-${writes++}`;
      await writeFile(draft, value);
      await rename(draft, fileOf(key));
    },
    async delete(key: string) {
      await rm(fileOf(key), { force: true });
      return true;
    },
    async clear() {
      await rm(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
    },
  };
  return adapter as unknown as KeyvStorageAdapter;
}
