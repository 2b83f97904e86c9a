import { describe, expect, it } from 'vitest';
import { pdfReader as threads } from '../../../src/documents/in-threads.ts';
import { pdfReader as inline } from '../../../src/documents/inline.ts';
import { pdfBomb, pdfOf } from '../../support/pdf.ts';

const never = new AbortController().signal;
const limits = { pages: 100, chars: 10_000 };
const readers = { 'a thread': threads, 'the same thread': inline };

describe.each(Object.entries(readers))('a PDF that is read in %s', (_, reader) => {
  it('has a text for each page', async () => {
    expect(await reader.read(pdfOf(['First (page)\nof two', '', 'Läst']), limits, never)).toMatchObject({
      pages: ['First (page)\nof two', '', expect.stringContaining('L')],
      total: 3,
      isCut: false,
    });
  });
  it('is read up to the limits', async () => {
    const pages = ['one', 'two', 'three'];
    expect(await reader.read(pdfOf(pages), { ...limits, pages: 2 }, never)).toEqual({
      pages: ['one', 'two'],
      total: 3,
      isCut: true,
    });
    expect(await reader.read(pdfOf(pages), { ...limits, chars: 4 }, never)).toEqual({
      pages: ['one', 't'],
      total: 3,
      isCut: true,
    });
    expect(await reader.read(pdfOf(pages), { ...limits, chars: 11 }, never)).toMatchObject({ pages, isCut: false });
  });
  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['no PDF', () => new TextEncoder().encode('%PDF-1.7 and nothing else')],
    ['empty', () => new Uint8Array()],
    ['cut within its first object', (bytes) => bytes.slice(0, 20)],
  ])('is unreadable where it is %s', async (_name, damage) => {
    expect(await reader.read(damage(pdfOf(['x'])), limits, never)).toBe('unreadable');
  });
  it('is not read for a client that has left', async () => {
    const left = AbortSignal.abort(new Error('left'));
    await expect(reader.read(pdfOf(['x']), limits, left)).rejects.toThrow('left');
  });
});

describe('a PDF that takes long', () => {
  it('is given up at once, as often as it is sent, and the next one is read', async () => {
    const bomb = pdfBomb(30_000_000);
    for (let round = 0; round < 3; round++) {
      const controller = new AbortController();
      const reads = Array.from({ length: 4 }, () => threads.read(new Uint8Array(bomb), limits, controller.signal));
      const settled = Promise.allSettled(reads);
      // Threads take longer to begin than this turn.
      controller.abort(new Error('late'));
      for (const one of await settled) expect(one).toMatchObject({ status: 'rejected', reason: { message: 'late' } });
    }
    expect(await threads.read(pdfOf(['next']), limits, never)).toMatchObject({ pages: ['next'] });
  });
  it('waits for its turn where others are read, and is read then', async () => {
    const reads = Array.from({ length: 6 }, (_, at) => threads.read(pdfOf([`text ${at}`]), limits, never));
    for (const [at, one] of (await Promise.all(reads)).entries()) expect(one).toMatchObject({ pages: [`text ${at}`] });
  });
});
