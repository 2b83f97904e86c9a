import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { pdfReader } from '../../../src/documents/in-threads.ts';
import { hostilePdfs } from '../../support/hostile-pdf.ts';
import { pdfOf } from '../../support/pdf.ts';
import { isLongRun } from '../../support/runs.ts';

const mb = 1024 * 1024;
const limits = { pages: 500, chars: 1_000_000, memoryBytes: 128 * mb };

/** In the short run, some of each kind: filters, fonts, tables. */
const tried = isLongRun
  ? hostilePdfs
  : hostilePdfs.filter(([name]) => /predictor|number of pages|no text|huge fields|map to Unicode of all/.test(name));

describe('a PDF that inflates to more than is allowed', () => {
  it.each(['predictor', 'one number', 'a font file'])(
    'is given up at the limit, and the next one is read: %s',
    async (kind) => {
      const [, make] = hostilePdfs.find(([name]) => name.includes(kind)) ?? [];
      const never = new AbortController().signal;
      if (make === undefined) throw new Error('expected a file of this kind');
      expect(await pdfReader.read(make(), { ...limits, memoryBytes: 32 * mb }, never)).toBe('too_costly');
      expect(await pdfReader.read(pdfOf(['next']), limits, never)).toMatchObject({ pages: ['next'] });
    },
    120_000,
  );
});

describe('a PDF that is made to cost memory', () => {
  it.each(tried)(
    'takes no more than is allowed: %s',
    async (_, make) => {
      const bytes = make();
      expect((await pdfReader.read(pdfOf(['warm']), limits, new AbortController().signal)) as object).toHaveProperty(
        'total',
      );
      const before = process.memoryUsage.rss();
      let most = before;
      const timer = setInterval(() => {
        most = Math.max(most, process.memoryUsage.rss());
      }, 10);
      const late = new AbortController();
      // What takes long is given up by the time limit of the plugin: here the question is what it takes until then.
      const giveUp = setTimeout(() => late.abort(new Error('late')), isLongRun ? 20_000 : 3_000);
      const read = await pdfReader.read(bytes, limits, late.signal).catch((error: Error) => error.message);
      clearTimeout(giveUp);
      clearInterval(timer);
      expect(['unreadable', 'too_costly', 'late', 'text']).toContain(typeof read === 'string' ? read : 'text');
      // Arrays, objects with what is no longer used of them, and the thread itself.
      expect((most - before) / mb).toBeLessThan(3 * 128 + 150);
    },
    120_000,
  );
});
