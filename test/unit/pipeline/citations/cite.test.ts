import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { citations } from '../../../../src/pipeline/citations/cite.ts';
import { pageOf } from '../../../support/search.ts';

const room = 100_000;
const placesOf = (text: string, url: string) =>
  citations(text, [pageOf('page', { url })], room).map(({ url_citation: { start_index, end_index } }) =>
    text.slice(start_index, end_index),
  );

/** An address in all of its forms. */
const addresses: Record<string, readonly string[]> = {
  'https://en.wikipedia.org/wiki/Mercury_(planet)': [
    'https://en.wikipedia.org/wiki/Mercury_(planet)',
    'https://en.wikipedia.org/wiki/Mercury_%28planet%29',
    'HTTPS://EN.Wikipedia.org:443/wiki/Mercury_(planet)#Orbit',
    'https://en.wikipedia.org./wiki/Mercury_(planet)/',
  ],
  'https://de.wikipedia.org/wiki/Gr%C3%B6%C3%9Fe': [
    'https://de.wikipedia.org/wiki/Größe',
    'https://de.wikipedia.org/wiki/Gr%c3%b6%c3%9fe',
    'https://de.wikipedia.org/wiki/Gro\u0308ße',
  ],
  'https://xn--bcher-kva.example/a?b=%20c&d=1': [
    'https://bücher.example/a?b=%20c&d=1',
    'https://B\u00dcCHER.example/%61?b=%20c&d=1',
    'https://b%C3%BCcher.example/a?b=%20c&amp;d=1',
  ],
  'https://zh.wikipedia.org/wiki/%E4%BD%A0%E5%A5%BD%EF%BC%8C%E6%9D%8E': [
    'https://zh.wikipedia.org/wiki/你好，李',
    'https://zh.wikipedia.org/wiki/%E4%BD%A0%E5%A5%BD，李',
  ],
  'https://acme.example/a(b(c)d)e/f': ['https://acme.example/a(b(c)d)e/f', 'https://acme.example/x/../a(b(c)d)e/f'],
  'https://acme.example/Jr.': ['https://acme.example/Jr.', 'https://acme.example/Jr%2E'],
  'http://xn--e1afmkfd.xn--p1ai/': ['http://пример.рф', 'http://пример.рф/', 'http://ПРИМЕР.рф/#'],
};

/** How a text may link to an address. `{}` stands for it. */
const forms = [
  '[page]({})',
  '[page](<{}>)',
  '[page]({} "A title (of it)")',
  "[page]({}\n'A title')",
  '[page](<{}> (A title))',
  '[ a [nested] text ]( {} )',
  '[a \\] text]({})',
  '[]({})',
  '[文](（{}）',
  '［文］（{}）',
  '【1】({})',
  '<{}>',
  '{}',
] as const;

/** What may stand before and behind a link. */
const around: readonly (readonly [string, string])[] = [
  ['', ''],
  ['See ', ' there.'],
  ['(', ')'],
  ['(see ', ').'],
  ['**', '**'],
  ['"', '"'],
  ['见', '。更多'],
  ['（', '），'],
  ['「', '」'],
  ['【', '】'],
  ['1. ', '\n'],
  ['a [b] c ', ' (d)'],
  ['!', '!'],
  ['| ', ' |'],
];

describe('citations', () => {
  it.each(Object.entries(addresses))('find %s in each of its forms, in each form of a link', (url, written) => {
    for (const address of written)
      for (const form of forms.filter((one) => one !== '[文](（{}）'))
        for (const [before, behind] of around) {
          // An image, and a link in a link, are other things.
          if (before === '!' && form.startsWith('[')) continue;
          const link = form.replace('{}', () => address);
          // Alone, an address goes on with what may be a part of it.
          if (form === '{}' && address.endsWith('.') && /^[.!]/.test(behind)) continue;
          const text = `${before}${link}${behind}`;
          expect({ text, cited: placesOf(text, url) }).toEqual({ text, cited: [link] });
        }
  });
  it('cover exactly the links, wherever and in whatever form they stand in a text', () => {
    const names = Object.keys(addresses);
    const link = fc.record({
      page: fc.nat(names.length - 1),
      form: fc.constantFrom(...forms.filter((one) => one !== '[文](（{}）')),
      written: fc.nat(9),
      around: fc.constantFrom(...around.filter(([before]) => before !== '!' && before !== '【')),
    });
    const noise = fc.stringMatching(/^[ a-z.,;:!?*()"'–。，é]{0,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, link), { maxLength: 12 }), noise, (parts, last) => {
        let text = '';
        const expected: { url: string; start: number; end: number }[] = [];
        for (const [between, one] of parts) {
          const url = names[one.page] as string;
          const written = addresses[url] as readonly string[];
          const own = one.form.replace('{}', () => written[one.written % written.length] as string);
          const [before, behind] = one.around;
          text += `${between} ${before}`;
          expected.push({ url, start: text.length, end: text.length + own.length });
          text += `${own}${behind} `;
        }
        text += last;
        const pages = names.map((url, at) => pageOf(`page${at}`, { url }));
        const cited = citations(text, pages, room)
          .map(({ url_citation: { url, start_index: start, end_index: end } }) => ({ url, start, end }))
          .filter(({ end }) => end > 0);
        expect({ text, cited }).toEqual({ text, cited: expected });
      }),
    );
  });
  it.each([
    ['[page][a]\n\n[a]: https://acme.example/x', ['[page][a]']],
    ['[A  b][] and [a b]\n\n[a b]: <https://acme.example/x> "Title"', ['[A  b][]', '[a b]']],
    ['Sources:\n[1]: https://acme.example/x\n', ['https://acme.example/x']],
    ['[1]: https://acme.example/x\n[1]: https://acme.example/other\nSee [1].', ['[1]']],
    ['[x](https://acme.example/other) https://acme.example/x', ['https://acme.example/x']],
    [
      '[out [in](https://acme.example/x) side](https://acme.example/x)',
      ['[in](https://acme.example/x)', 'https://acme.example/x'],
    ],
    [
      '[![picture](https://acme.example/p.png)](https://acme.example/x)',
      ['[![picture](https://acme.example/p.png)](https://acme.example/x)'],
    ],
    ['\\[no](https://acme.example/x)', ['https://acme.example/x']],
    ['[cut](https://acme.example/x', ['https://acme.example/x']],
    ['[a\n\nb](https://acme.example/x)', ['https://acme.example/x']],
    ['https://other.example,https://acme.example/x', ['https://acme.example/x']],
    ['<a href="https://acme.example/x">page</a>', ['https://acme.example/x']],
    ['https://acme.example/xy https://acme.example/ httpshttps://acme.example/x', ['']],
  ])('of %j are %j', (text, cited) => {
    expect(placesOf(text, 'https://acme.example/x')).toEqual(cited);
  });
  it('take a page that was found twice, in two forms, for one', () => {
    const found = ['https://bücher.example/', 'https://xn--bcher-kva.example'].map((url) => pageOf('a', { url }));
    expect(citations('', found, room)).toHaveLength(1);
  });
  it('tell what a page says once, and keep all together within their room', () => {
    const page = pageOf('a', { url: 'https://a.example/', text: 'x'.repeat(10_000) });
    const link = '[a](https://a.example/)';
    const cited = citations(`${link} ${link} ${link}`, [page], room);
    expect(cited.map(({ url_citation: { content } }) => content.length)).toEqual([10_000, 0, 0]);
    for (const text of [link.repeat(4_000), `${'[a]'.repeat(20_000)}\n\n[a]: https://a.example/`])
      for (const most of [0, 1_000, room])
        expect(JSON.stringify(citations(text, [page], most)).length).toBeLessThanOrEqual(most + 2);
  });
});
