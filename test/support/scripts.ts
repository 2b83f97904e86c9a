import fc from 'fast-check';

const from = (characters: string) => fc.constantFrom(...characters);
const within = (first: number, last: number) =>
  fc.integer({ min: first, max: last }).map((point) => String.fromCodePoint(point));

/** One character or word of a kind, by the name of the kind. */
export const scripts: Record<string, fc.Arbitrary<string>> = {
  latin: fc.constantFrom('the ', 'weather ', 'in ', 'Paris', ', ', 'naïve ', 'Straße '),
  chinese: within(0x4e00, 0x9fff),
  japanese: within(0x3041, 0x30ff),
  korean: within(0xac00, 0xd7a3),
  arabic: within(0x0621, 0x064a),
  hindi: within(0x0904, 0x0939),
  thai: within(0x0e01, 0x0e2e),
  emoji: fc.constantFrom('😀', '👩‍👩‍👧‍👦', '🇫🇷', '✌🏽', '❤️'),
  code: fc.constantFrom(
    'const x = () => {\n',
    '\t\treturn a["b"] <= c && d;\n',
    '}\r\n',
    "print('\\u00e9')  \n",
    '    ',
  ),
  base64: from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='),
  control: within(0x00, 0x1f),
  marks: within(0x0300, 0x036f),
  // Characters that are longer in a normal form.
  compatible: fc.constantFrom('\uFDFA', '\uFDFB', '㎞', '㍿', 'ﬃ', '½', '℡', '\u{1D160}', '\u0344', '\uFB2C', '\u0958'),
  halves: within(0xd800, 0xdfff),
  any: fc.string({ unit: 'binary', maxLength: 3 }),
};

/** Texts of one script, and of all mixed. */
export const scriptText = (maxLength = 200): fc.Arbitrary<string> =>
  fc
    .constantFrom(...Object.values(scripts), fc.oneof(...Object.values(scripts)))
    .chain((script) => fc.array(script, { maxLength }))
    .map((pieces) => pieces.join(''));
