/** Pieces of which a text is made that is the cheapest to send and costs the most to read, by somebody's expression. */
export const pieces = {
  letters: 'a',
  words: 'ab ',
  spaces: ' ',
  'line ends': '\n',
  quotes: '"',
  backslashes: '\\',
  digits: '1',
  'groups of digits': '4111 ',
  'names of an address': 'a@',
  'names and dots': 'a.',
  braces: '{',
  brackets: '[',
  'JSON that never ends': '{"a":[',
  links: '[x](',
  tags: '<a>',
  fences: '```',
  'zero-width characters': '\u200b',
  'marks that combine': '\u0301',
  'marks to be sorted': '\u0301\u0316',
  'letters that become many': '\ufdfa',
  'halves of characters': '\ud83d',
  'characters of two halves': '\ud83d\ude00',
  base64: 'QUJD',
  'data URLs': 'data:image/png;base64,',
  escapes: '%e4',
  suffixes: ':free',
  stars: '*',
  slashes: '/',
} as const satisfies Record<string, string>;

/** A text that begins as a data URL of an image, and goes on as base64. */
const heads = {
  'a data URL': ['data:image/png;base64,', 'QUJD'],
  'an address': ['https://a.example/', 'a/'],
  'digits of a number': ['0.', '1'],
} as const satisfies Record<string, readonly [string, string]>;

/** By name: the text of so many characters. */
export const texts: ReadonlyMap<string, (characters: number) => string> = new Map([
  ...Object.entries(pieces).map(([name, piece]) => [name, repeated('', piece)] as const),
  ...Object.entries(heads).map(([name, [head, piece]]) => [name, repeated(head, piece)] as const),
]);

function repeated(head: string, piece: string): (characters: number) => string {
  return (characters) => head + piece.repeat(Math.max(1, Math.floor((characters - head.length) / piece.length)));
}

/** Lists in lists, as deep as is allowed. */
export function deep(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}
