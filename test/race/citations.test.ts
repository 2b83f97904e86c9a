import { describe, expect, it } from 'vitest';
import { citations } from '../../src/pipeline/citations/cite.ts';
import { pageOf } from '../support/search.ts';

const room = 100_000;

describe('citations', () => {
  it('take work in proportion to the text, whatever it is made of', () => {
    const shapes = [
      ...['[', '](', '[](', '](<', '[a](https://a(', '[a](https://a "', "[a](https://a '", '](https://a (', '(', '\\('],
      ...[
        '<https://',
        'https://',
        'https://a，',
        'https://a)',
        'https://a,http',
        '\n[a]: ',
        '[a]:\n \n',
        '\n\n',
        '[a][a]',
      ],
      ...['[a](https://a "\\', '![', ' ', '%e4', 'https://a/%e4%e4', '[a]: https://a.example/\n'],
    ];
    const found = [pageOf('a', { url: 'https://a.example/' })];
    // What is counted is what a run of the expressions takes: the machine's speed is no matter, its growth is.
    const msFor = (shape: string, characters: number) => {
      const text = shape.repeat(Math.ceil(characters / shape.length));
      const times = [0, 1, 2].map(() => {
        const before = performance.now();
        citations(text, found, room);
        return performance.now() - before;
      });
      return Math.min(...times);
    };
    for (const shape of shapes) {
      const small = Math.max(msFor(shape, 4_000), 1);
      // Twelve times the text: a square would be 144 times the work.
      expect({ shape, isLinear: msFor(shape, 48_000) < small * 60 }).toEqual({ shape, isLinear: true });
    }
  });
});
