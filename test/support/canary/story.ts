import { expect } from 'vitest';
import type { StoreOption } from '../../../src/setup/stores.ts';
import { scanFor } from './scan.ts';
import { exerciseAll, mark, operationNames } from './scenario.ts';

/** What a store consists of: files, keys, rows, what went over its line. */
export type RawBytes = Record<string, string | Uint8Array>;

export interface CanaryStore {
  store: StoreOption;
  /** All of it, as it is now. */
  dump(): Promise<RawBytes>;
  /** Writes a text into it, past the gateway. */
  plant(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Exercises everything on a store, and looks for every secret in all that was said and stored. */
export async function expectNoCanary({ store, dump, plant, close }: CanaryStore): Promise<void> {
  try {
    const { told, made, succeeded } = await exerciseAll(store);
    expect(operationNames.filter((name) => !succeeded.has(name))).toEqual([]);
    expect(made.length).toBeGreaterThan(2);
    // Of a key that was made here, all but what its label shows.
    const scan = scanFor([mark, ...made.map((key) => key.slice(5, -4))]);
    const hits = (texts: [where: string, text: string | Uint8Array][]) =>
      texts.flatMap(([where, text]) => scan.find(text).map((name) => `${name} in ${where}`));
    for (const kind of [
      'log, info',
      'log, warn',
      'log, error',
      'record',
      'rotation',
      'options',
      'a body sent upstream',
    ])
      expect(told.map(({ where }) => where)).toContain(kind);
    for (const status of [200, 201, 400, 401, 402, 404, 429, 500, 502, 503])
      expect([status, told.some(({ where }) => where.endsWith(` ${status}`))]).toEqual([status, true]);
    const inWords = told.flatMap(({ where, text }) =>
      scan.find(text).map((name) => `${name} in ${where}: ${around(text)}`),
    );
    expect(inWords.slice(0, 10)).toEqual([]);
    const stored = await dump();
    // It is the store of this scenario that is looked through.
    const whole = Buffer.concat(Object.values(stored).map((one) => Buffer.from(one)));
    for (const known of ['mistral', 'ciphertext', 'Canaries'])
      expect([known, whole.includes(known)]).toEqual([known, true]);
    expect(hits(Object.entries(stored))).toEqual([]);
    // And it would have been found.
    const planted = `${mark} was here`;
    await plant(planted);
    expect(hits(Object.entries(await dump()))).not.toEqual([]);
  } finally {
    await close();
  }
}

function around(text: string): string {
  const at = Math.max(0, text.indexOf(mark));
  return text.slice(Math.max(0, at - 200), at + 200);
}
