/** What models write where JSON was asked for, by generators, with what each must become. */
export interface Case {
  name: string;
  text: string;
  schema: object | null;
  /** The only honest value; undefined: there is none. */
  value?: unknown;
}

interface Document {
  name: string;
  value: Record<string, unknown>;
  schema: object;
}

const string = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: Record<string, object>, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});
const list = (items: object) => ({ type: 'array', items });

export const documents: readonly Document[] = [
  {
    name: 'a person',
    value: { name: 'Ada Lovelace', age: 36, tags: ['maths', 'poetry'] },
    schema: object({ name: string, age: integer, tags: list(string) }),
  },
  {
    name: 'an order',
    value: {
      id: 'A-1',
      lines: [
        { sku: 'x', count: 2 },
        { sku: 'y', count: 3 },
      ],
      paid: true,
    },
    schema: object({ id: string, lines: list(object({ sku: string, count: integer })), paid: { type: 'boolean' } }),
  },
  {
    name: 'nested objects',
    value: { title: 'T', at: { city: 'Köln', geo: { lat: 50.94, lon: -6.96 } }, note: null },
    schema: object({
      title: string,
      at: object({ city: string, geo: object({ lat: { type: 'number' }, lon: { type: 'number' } }) }),
      note: { type: ['string', 'null'] },
    }),
  },
  {
    name: 'signs in texts',
    value: { text: 'a, b: {c} [d] — 漢字', other: 'x // y # z', more: ['p:q', 'r,s'] },
    schema: object({ text: string, other: string, more: list(string) }),
  },
  {
    name: 'numbers',
    value: { price: 1200.5, share: 1e-7, count: 0, list: [1, -2, 3] },
    schema: object({
      price: { type: 'number' },
      share: { type: 'number' },
      count: integer,
      list: list(integer),
    }),
  },
];

const plain = (value: unknown) => JSON.stringify(value);
const pretty = (value: unknown) => JSON.stringify(value, null, 2);
/** The JSON with its quotation marks replaced, where no text holds one. */
const quoted = (open: string, close: string) => (value: unknown) =>
  plain(value).replace(/"([^"]*)"/g, `${open}$1${close}`);
const unclosed = (count: number) => (value: unknown) => {
  const json = plain(value);
  const closers = /[\]}]*$/.exec(json)?.[0].length ?? 0;
  // Where a number or a word stands at the end, the text would end within it.
  const cut = json.slice(0, json.length - Math.min(count, closers));
  return /["\]}]$/.test(cut) ? cut : `${cut}\n`;
};
const other = { title: 'no', steps: [] };

/** Damages of the syntax, and prose around it: the value is said in full, and once. */
export const damages: Readonly<Record<string, (value: Record<string, unknown>) => string>> = {
  'a fence': (value) => `\`\`\`json\n${pretty(value)}\n\`\`\``,
  'a fence of another label': (value) => `\`\`\`JSON5 title="x"\n${plain(value)}\n\`\`\``,
  'a fence that is not closed': (value) => `Sure:\n\`\`\`\n${pretty(value)}`,
  'prose around it': (value) => `Here is what you asked for: ${plain(value)}. Let me know!`,
  'a template before it': (value) => `For {user} and [the rest]: ${plain(value)}`,
  'a reference before it': (value) => `[1] As the source says: ${plain(value)} [2]`,
  'a link before it': (value) => `See [the page](https://x.example/{id}) for more.\n\n${pretty(value)}`,
  'an emoticon before it': (value) => `It's done :-[ and here "it" is: ${plain(value)}`,
  'thoughts before it': (value) => `<think>Maybe ${plain(value).replace(/[1-9]/g, '7')}?</think>\n${plain(value)}`,
  'thoughts without a beginning': (value) => `So {"x": "maybe… </think>\n\n${plain(value)}`,
  'other thoughts before it': (value) => `[THINK]perhaps {"a": 1}[/THINK]${plain(value)}`,
  'a channel of thoughts before it': (value) =>
    `<|channel|>analysis<|message|>try {"a":1}<|end|><|start|>assistant<|channel|>final<|message|>${plain(value)}`,
  'another object before it': (value) => `First ${plain(other)}, then ${plain(value)}`,
  'another fence before it': (value) => `\`\`\`json\n${plain(other)}\n\`\`\`\nand\n\`\`\`json\n${plain(value)}\n\`\`\``,
  'another object behind it': (value) => `${plain(value)}\n${plain(other)}`,
  'the same twice': (value) => `${plain(value)}\n\n${pretty(value)}`,
  'a trailing comma': (value) => plain(value).replace(/([}\]])$/, ',$1'),
  'trailing commas': (value) => pretty(value).replace(/\n(\s*[}\]])/g, ',\n$1'),
  'keys without quotes': (value) => plain(value).replace(/"([a-z]+)":/g, '$1:'),
  'single quotes': quoted("'", "'"),
  'curly quotes': quoted('“', '”'),
  'German quotes': quoted('„', '“'),
  'French quotes': quoted('«', '»'),
  'quotes the other way round': quoted('»', '«'),
  'single curly quotes': quoted('‘', '’'),
  'single German quotes': quoted('‚', '‘'),
  'Japanese quotes': quoted('「', '」'),
  'wide quotes': quoted('＂', '＂'),
  'back quotes': quoted('`', '`'),
  'comments to the end of the line': (value) => pretty(value).replace(/,\n/g, ', // so "it" is\n'),
  'comments in stars': (value) => `/* {the answer} */ ${pretty(value).replace(/\n/g, ' /* , */\n')}`,
  'comments of a shell': (value) => pretty(value).replace(/,\n/g, ', # so it is\n'),
  'words of Python': (value) =>
    plain(value).replaceAll(':true', ': True').replaceAll(':null', ': None').replace(/}$/, ',}'),
  'no last bracket': unclosed(1),
  'no last two brackets': unclosed(2),
  'no last three brackets': unclosed(3),
  'a bracket too many': (value) => `${plain(value)}}`,
  'two brackets too many': (value) => `${plain(value)}]}`,
  'no first bracket': (value) => plain(value).slice(1),
  'no commas between lines': (value) => pretty(value).replace(/,\n/g, '\n'),
  'two commas': (value) => plain(value).replace(/,"/g, ',,"'),
  'an ellipsis': (value) => plain(value).replace(/}$/, ', ...}'),
  'a byte-order mark': (value) => `\ufeff${plain(value)}`,
  'no-break spaces': (value) => pretty(value).replaceAll('\n', '\n\u00a0'),
  'a call around it': (value) => `callback(${plain(value)});`,
  'a label before it': (value) => `json\n${pretty(value)}`,
  'a variable before it': (value) => `const answer = ${plain(value)};`,
  'tags around it': (value) => `<json>${plain(value)}</json>`,
  'JSON in a string': (value) => plain(plain(value)),
  'JSON in a string in a string': (value) => plain(plain(plain(value))),
  'escaped quotes': (value) => plain(value).replaceAll('"', '\\"'),
  'escaped line ends': (value) => plain(pretty(value)).slice(1, -1),
  'quotes of a page': (value) => plain(value).replaceAll('"', '&quot;'),
  'wide signs': (value) => plain(value).replace(/":/g, '"：').replace(/^\{/, '｛').replace(/}$/, '｝'),
  'a quotation of Markdown': (value) => `> ${pretty(value).replaceAll('\n', '\n> ')}`,
  'arrows for colons': (value) => plain(value).replace(/":/g, '" => '),
  'concatenated texts': (value) => plain(value).replace(/":"(.)([^"]*)"/g, '":"$1" + "$2"'),
};

/** Whether a damage changes this document in a way that leaves one reading. */
function applies(damage: string, { name }: Document): boolean {
  // Comments and entities stand in the texts of this one.
  return !(name === 'signs in texts' && /^(?:keys without|escaped)/.test(damage));
}

/** Single faults, each with its value. */
const single: readonly Case[] = [
  {
    name: 'a quote that is not escaped',
    text: '{"a":"he said "hi" to me","b":1}',
    schema: null,
    value: { a: 'he said "hi" to me', b: 1 },
  },
  { name: 'an apostrophe', text: "{'a':'it's here','b':1}", schema: null, value: { a: "it's here", b: 1 } },
  { name: 'no closing quote', text: '{"name":"Ada, "age":36}', schema: null, value: { name: 'Ada', age: 36 } },
  { name: 'no colon', text: '{"a" 1, "b": 2}', schema: null, value: { a: 1, b: 2 } },
  { name: 'a line end in a text', text: '{"a":"x\ny\tz"}', schema: null, value: { a: 'x\ny\tz' } },
  {
    name: 'a control character in a text',
    text: '{"a":"x\u0001\u0000y"}',
    schema: null,
    value: { a: 'x\u0001\u0000y' },
  },
  {
    name: 'what is no escape',
    text: '{"a":"C:\\dir\\p","b":"\\d+"}',
    schema: null,
    value: { a: 'C:\\dir\\p', b: '\\d+' },
  },
  { name: 'escapes of JavaScript', text: '{"a":"it\\\'s \\x41 \\u{1F600}"}', schema: null, value: { a: "it's A 😀" } },
  { name: 'NaN', text: '{"a":NaN,"b":-Infinity,"c":undefined}', schema: null, value: { a: null, b: null, c: null } },
  {
    name: 'numbers of JavaScript',
    text: '{"a":+.5,"b":0x1F,"c":1_000}',
    schema: null,
    value: { a: 0.5, b: 31, c: 1000 },
  },
  {
    name: 'a text without quotes',
    text: '{"a": hello world, "b": 1}',
    schema: null,
    value: { a: 'hello world', b: 1 },
  },
  {
    name: 'an address without quotes',
    text: '{"a": https://x.example/y?z=1, "b": 1}',
    schema: null,
    value: { a: 'https://x.example/y?z=1', b: 1 },
  },
  { name: 'three quotes', text: '{"a": """x "y" z""", "b": 1}', schema: null, value: { a: 'x "y" z', b: 1 } },
  { name: 'a tuple', text: "{'a': (1, 2)}", schema: null, value: { a: [1, 2] } },
  {
    name: 'a call in it',
    text: '{"a": ObjectId("x1"), "b": Decimal(\'1.20\')}',
    schema: null,
    value: { a: 'x1', b: '1.20' },
  },
  { name: 'a prefix of Python', text: "{u'a': u'x'}", schema: null, value: undefined },
  { name: 'a list that is not closed', text: '{"a":[1,2,"b":3}', schema: null, value: { a: [1, 2], b: 3 } },
  {
    name: 'an object that is not closed',
    text: '{"a":[{"x":1,{"x":2}]}',
    schema: null,
    value: { a: [{ x: 1 }, { x: 2 }] },
  },
  { name: 'brackets that cross', text: '{"a":[1,2}', schema: null, value: { a: [1, 2] } },
  { name: 'a bracket too many in it', text: '{"a":[1,2]],"b":3}', schema: null, value: { a: [1, 2], b: 3 } },
  { name: 'an end too early', text: '{"a":{"x":1}},"b":2}', schema: null, value: { a: { x: 1 }, b: 2 } },
  {
    name: 'a bracket that the schema places',
    text: '{"a":{"x":1,"b":2}',
    schema: object({ a: object({ x: integer }), b: integer }),
    value: { a: { x: 1 }, b: 2 },
  },
  {
    name: 'two brackets that the schema places',
    text: '{"items":[{"x":1},{"x":2,"total":2}',
    schema: object({ items: list(object({ x: integer })), total: integer }),
    value: { items: [{ x: 1 }, { x: 2 }], total: 2 },
  },
  {
    name: 'a bracket that the schema leaves',
    text: '{"a":{"x":1,"b":2}',
    schema: object({ a: object({ x: integer, b: integer }) }),
    value: { a: { x: 1, b: 2 } },
  },
].filter(({ value }) => value !== undefined);

export const repairable: readonly Case[] = [
  ...documents.flatMap((document) =>
    Object.entries(damages)
      .filter(([damage]) => applies(damage, document))
      .map(([damage, damaged]) => ({
        name: `${document.name} with ${damage}`,
        text: damaged(document.value),
        schema: document.schema,
        value: document.value,
      }))
      .filter(({ text }) => text !== plain(document.value)),
  ),
  ...single,
];

/** What stands before the cut, in a document that goes on. */
const cuts: readonly [string, string][] = [
  ['a text', '{"name":"Ada L'],
  ['a text behind an escape', '{"name":"Ada \\"L\\" '],
  ['an escape', '{"name":"Ada \\'],
  ['the code of an escape', '{"name":"Ada \\u00'],
  ['a text in a list', '{"tags":["maths","po'],
  ['a text that looks closed', '{"name":"Ada, age: 36}'],
  ['a number', '{"name":"Ada","price":12'],
  ['a number behind its point', '{"name":"Ada","price":12.'],
  ['a number behind its sign', '{"name":"Ada","price":-'],
  ['an exponent', '{"name":"Ada","price":1e'],
  ['a number in a list', '{"list":[1,2'],
  ['true', '{"name":"Ada","ok":tru'],
  ['false', '{"name":"Ada","ok":f'],
  ['null', '{"name":"Ada","ok":nul'],
  ['a whole true', '{"name":"Ada","ok":true'],
  ['a name', '{"name":"Ada","ag'],
  ['a name without quotes', '{name:"Ada",ag'],
  ['a name at its end', '{"name":"Ada","age"'],
  ['a member', '{"name":"Ada","age":'],
  ['a member behind a space', '{"name":"Ada","age": \n'],
  ['a comment', '{"name":"Ada", /* the ag'],
  ['a text in single quotes', "{'name':'Ada L"],
  ['a text in curly quotes', '{“name”:“Ada L'],
];
const around: Readonly<Record<string, (cut: string) => string>> = {
  'the text': (cut) => cut,
  'a fence': (cut) => `\`\`\`json\n${cut}`,
  prose: (cut) => `Here {it} is: ${cut}`,
};

export const unrepairable: readonly Case[] = [
  ...Object.entries(around).flatMap(([where, put]) =>
    cuts.map(([what, cut]) => ({ name: `${where} cut in ${what}`, text: put(cut), schema: null })),
  ),
  { name: 'prose', text: 'I cannot do that.', schema: null },
  { name: 'prose with brackets', text: 'I cannot {do} that [1].', schema: null },
  { name: 'a member without a value', text: '{"a":,"b":1}', schema: null },
  { name: 'a last member without a value', text: '{"a":1,"b":}', schema: null },
  { name: 'a number in two parts', text: '{"price": 1,200}', schema: null },
  { name: 'a cut word with its bracket', text: '{"ok": tru}', schema: null },
  { name: 'a cut escape with its quote', text: '{"a":"\\u00e"}', schema: null },
  { name: 'a number that is no number', text: '{"age": NaN,}', schema: object({ age: integer }) },
  { name: 'two that differ', text: '{"a":1}\n{"a":2}', schema: null },
  { name: 'two that fit', text: '{"a":1} or {"a":2}', schema: object({ a: integer }) },
  { name: 'brackets that no schema fits', text: '{"a":{"x":1', schema: object({ a: object({ x: string }) }) },
  { name: 'thoughts that do not end', text: '<think>Maybe {"a":1}', schema: object({ a: integer }) },
  { name: 'a whole behind which another begins', text: '{"a":1}\n{"a":"x', schema: object({ a: integer }) },
];
