import { expect, it } from 'vitest';
import { emptyPagesOf, holdNoText, namedPages } from '../../../../src/plugins/file-parser/empty-pages.ts';

it.each<[string[], string]>([
  [['a', 'b', ''], 'page 3 holds no text'],
  [['a', 'b', ' \n', 'd', '', '', '\t'], 'pages 3, 5–7 hold no text'],
  [['', '', 'c'], 'pages 1–2 hold no text'],
])('pages without text are named: %j', (pages, named) => {
  expect(holdNoText(emptyPagesOf(pages))).toBe(named);
});
it('names none where all have text', () => {
  expect(namedPages(emptyPagesOf(['a', 'b']))).toBe('');
});
