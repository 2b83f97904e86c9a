import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { publicEntries } from '../../tsup.config.ts';

/** Set by zod when the first schema of a process is built, and by nothing else. */
const hasBuiltSchemas = () => z.config().localeError !== undefined;

describe('importing the package', () => {
  it('builds no schema: that took a third of its time', async () => {
    for (const source of Object.values(publicEntries)) await import(/* @vite-ignore */ `../../${source}`);
    expect(hasBuiltSchemas()).toBe(false);
  });

  it('could be seen to build one', () => {
    z.string();
    expect(hasBuiltSchemas()).toBe(true);
  });
});
