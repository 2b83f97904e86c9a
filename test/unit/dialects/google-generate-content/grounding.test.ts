import { describe, expect, it } from 'vitest';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';

/** The notes of a response, each as the text that it is of and the address. */
function cited(texts: readonly string[], more: object): unknown[] {
  const parts = texts.map((text) => ({ text }));
  const { result } = googleGenerateContent.decodeResult(
    { candidates: [{ content: { parts }, finishReason: 'STOP', ...more }] },
    {},
  );
  const message = result.choices[0]?.message as unknown as { content: string; annotations?: { url_citation: Note }[] };
  return (message.annotations ?? []).map(({ url_citation: note }) => [
    message.content.slice(note.start_index, note.end_index),
    note.url,
  ]);
}
interface Note {
  url: string;
  start_index: number;
  end_index: number;
}

const chunk = (uri: string) => ({ web: { uri, title: 'T' } });
const support = (segment: object, ...groundingChunkIndices: unknown[]) => ({ segment, groundingChunkIndices });
const grounded = (groundingChunks: unknown[], groundingSupports: unknown[]) => ({
  groundingMetadata: { groundingChunks, groundingSupports },
});

describe('google-generate-content, sources', () => {
  it('are of the right text, though Google counts bytes', () => {
    const text = 'Ein Grad wärmer 🌞 heute. Morgen kälter.';
    const bytes = (part: string) => Buffer.byteLength(text.slice(0, text.indexOf(part)));
    const startIndex = bytes('heute');
    const endIndex = bytes(' Morgen');
    expect(
      cited(
        [text],
        grounded(
          [chunk('https://a.test'), chunk('https://b.test')],
          [support({ endIndex: bytes(' heute') }, 0), support({ startIndex, endIndex, text: 'heute.' }, 0, 1)],
        ),
      ),
    ).toEqual([
      ['Ein Grad wärmer 🌞', 'https://a.test'],
      ['heute.', 'https://a.test'],
      ['heute.', 'https://b.test'],
    ]);
  });

  it('are found by their text where they count from the beginning of a part', () => {
    const segment = { partIndex: 1, startIndex: 0, endIndex: 6, text: 'Second' };
    expect(cited(['First. ', 'Second.'], grounded([chunk('https://a.test')], [support(segment, 0)]))).toEqual([
      ['Second', 'https://a.test'],
    ]);
  });

  it('without a text of their own are listed too', () => {
    expect(cited(['A'], grounded([chunk('https://a.test'), { maps: { uri: 'https://m.test' } }, {}], []))).toEqual([
      ['', 'https://a.test'],
      ['', 'https://m.test'],
    ]);
  });

  it('are those of a quotation, in both of Google’s spellings', () => {
    const citation = { startIndex: 0, endIndex: 4, uri: 'https://q.test' };
    for (const citationMetadata of [{ citationSources: [citation] }, { citations: [citation] }])
      expect(cited(['To be or not'], { citationMetadata })).toEqual([['To b', 'https://q.test']]);
  });

  it('survive offsets and indices that are none', () => {
    const segments = [{ startIndex: -5, endIndex: 1e9 }, { startIndex: 3, endIndex: 1 }, { startIndex: '1' }, null, 7];
    const supports = segments.map((segment) => ({ segment, groundingChunkIndices: [0, 5, '0', null, -1] }));
    expect(cited(['A text'], grounded([chunk('https://a.test')], supports))).toEqual([
      ['A text', 'https://a.test'],
      ['', 'https://a.test'],
      ['', 'https://a.test'],
    ]);
  });

  it('are not many more than a response can have', () => {
    const supports = Array.from({ length: 20_000 }, (_, at) => support({ startIndex: at, endIndex: at + 1 }, 0));
    expect(cited(['a'.repeat(30_000)], grounded([chunk('https://a.test')], supports)).length).toBe(1_000);
  });
});
