import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerce } from '../../../../src/plugins/response-healing/coerce.ts';
import { heal as healWithin } from '../../../../src/plugins/response-healing/heal.ts';
import { treeOf, writeTree } from '../../../../src/plugins/response-healing/json-tree.ts';
import { fitsSchema } from '../../../../src/plugins/response-healing/schema-check.ts';

const budget = 1_000_000;
const heal = (text: string, schema: object | null) => healWithin(text, schema, { left: budget });
const person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'age'],
};

describe('a response that is not the JSON that was asked for', () => {
  it.each<[string, string, unknown, string[]]>([
    ['a fence', '```json\n{"name":"Ada","age":36}\n```', { name: 'Ada', age: 36 }, ['extracted']],
    ['a trailing comma', '{"name":"Ada","age":36,}', { name: 'Ada', age: 36 }, ['repaired']],
    ['prose and a fault', 'Well: {name:"Ada",age:36,} ok?', { name: 'Ada', age: 36 }, ['extracted', 'repaired']],
    ['a string around it', '"{\\"name\\":\\"Ada\\",\\"age\\":36}"', { name: 'Ada', age: 36 }, ['unescaped']],
    ['a number as text', '{"name":"Ada","age":"36"}', { name: 'Ada', age: 36 }, ['coerced']],
    ['a text as number', '{"name":7,"age":36}', { name: '7', age: 36 }, ['coerced']],
    ['one value for a list', '{"name":"Ada","age":36,"tags":"x"}', { name: 'Ada', age: 36, tags: ['x'] }, ['coerced']],
    [
      'JSON in a member',
      '{"name":"Ada","age":36,"tags":"[\\"x\\"]"}',
      { name: 'Ada', age: 36, tags: ['x'] },
      ['coerced'],
    ],
  ])('with %s is healed, and says by what', async (_, text, value, fixes) => {
    const healed = await heal(text, person);
    if (healed?.kind !== 'healed') throw new Error('It was not healed');
    expect([JSON.parse(healed.text), healed.fixes, healed.fitsSchema]).toEqual([value, fixes, true]);
  });
  it.each<[string, string, object | null]>([
    ['', ' {"name": "Ada",\n"age": 36} ', person],
    [' without a schema', '[1, 2]', null],
    [' with members that are there twice', '{"name":"Ada","name":"Bo","age":1}', person],
    [' of a schema that cannot be checked', '{"a":1}', { $dynamicRef: '#x' }],
  ])('that is valid%s is fine to the byte', async (_, text, schema) => {
    expect(await heal(text, schema)).toBe(null);
  });
  it.each<[string, string, object | null, string]>([
    ['more than one number would lose', '{"name":"Ada","age":"36.5 years"}', person, 'schema'],
    ['digits that a number would lose', '{"name":"Ada","age":"036"}', person, 'schema'],
    ['prose', 'I cannot do that.', person, 'no_json'],
    ['a text that is cut', '{"name":"Ada L', person, 'cut'],
    ['two values', '{"a":1} {"a":2}', null, 'ambiguous'],
    ['too many levels', '['.repeat(201), null, 'depth'],
  ])('with %s stays as it is, and says why', async (_, text, schema, reason) => {
    expect(await heal(text, schema)).toMatchObject({ kind: 'left', reason });
  });
  it('of another shape is at least JSON', async () => {
    expect(await heal('{"title":"x",}', person)).toEqual({
      kind: 'healed',
      text: '{"title":"x"}',
      fixes: ['repaired'],
      fitsSchema: false,
    });
  });
  it('keeps its digits, its members and their order', async () => {
    const said = '{"id":9223372036854775807,"one":1.0,"low":-0,"e":1E+2,"id":12345678901234567890}';
    const schema = { properties: { list: { type: 'array' } } };
    for (const [text, of] of [
      [said.replace('}', ',}'), null],
      [`Sure: ${said}`, null],
      [said.replace('}', ',"list":1}'), schema],
    ] as const) {
      const healed = await heal(text, of);
      expect(healed).toMatchObject({ text: expect.stringContaining(said.slice(0, -1)) });
    }
    const text = '{"a":9223372036854775807,"b":1.0}';
    const tree = coerce(
      treeOf(text, { left: budget }),
      { properties: { a: { type: 'string' }, b: { type: 'string' } } },
      { left: budget },
    );
    expect(writeTree(tree)).toBe('{"a":"9223372036854775807","b":"1.0"}');
  });
  it('cannot change a prototype', async () => {
    const healed = await heal('{"__proto__":{"age":1},"name":"Ada","age":"36",}', person);
    expect(healed).toMatchObject({ text: '{"__proto__":{"age":1},"name":"Ada","age":36}' });
    expect(({} as { age?: number }).age).toBe(undefined);
  });
});

/** A value, and a schema that it fits and that names each of its members. */
const documents = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 5 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>)
  .map((value) => ({ value, schema: schemaOf(value) }));

function schemaOf(value: unknown): object {
  if (Array.isArray(value)) return { type: 'array' };
  if (typeof value !== 'object' || value === null) return { type: value === null ? 'null' : typeof value };
  const properties = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, schemaOf(one)]));
  return { type: 'object', properties, required: Object.keys(value) };
}

const damages: Readonly<Record<string, (json: string) => string>> = {
  'a fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
  prose: (json) => `For {user} [1]:\n${json}\nLet me know!`,
  'a thought': (json) => `<think>{"a":1}</think>${json}`,
  'a trailing comma': (json) => json.replace(/}$/, ',}'),
  'keys without quotes': (json) => json.replace(/^(\{\s*)"([a-z]+)":/, '$1$2:'),
  'a comment': (json) => json.replace(/^\{/, '{ /* the "answer" */ '),
  'a missing bracket': (json) => json.replace(/}$/, ' '),
  'an ellipsis': (json) => json.replace(/}$/, ', ...}'),
  'a second closing bracket': (json) => `${json}}`,
  'a string around it': (json) => JSON.stringify(json),
};

describe('any document', () => {
  it('whose syntax is damaged becomes the same value again, and one that is valid stays', async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.constantFrom(...Object.keys(damages)),
        fc.boolean(),
        async ({ value, schema }, name, isPretty) => {
          const json = JSON.stringify(value, null, isPretty ? 2 : 0);
          expect(await heal(json, schema)).toBe(null);
          const healed = await heal((damages[name] as (json: string) => string)(json), schema);
          expect(healed?.kind).toBe('healed');
          expect(JSON.parse((healed as { text: string }).text)).toEqual(value);
        },
      ),
      { numRuns: 500 },
    );
  });
  it('that is cut anywhere stays as it is, or becomes a value of which every leaf was said whole', async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.nat(), fc.boolean(), async ({ value, schema }, at, isPretty) => {
        const json = JSON.stringify(value, null, isPretty ? 2 : 0);
        const cut = json.slice(0, at % json.length);
        const healed = await heal(cut, at % 2 === 0 ? schema : null);
        if (healed?.kind !== 'healed') return;
        expect(isPartOf(JSON.parse(healed.text), value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Whether a value has nothing that another one has not: members and items may be missing at the end. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && part.every((item, at) => isPartOf(item, whole[at]));
  if (typeof part !== 'object' || part === null) return Object.is(part, whole) || part === whole;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([name, one]) => Object.hasOwn(whole, name) && isPartOf(one, (whole as Record<string, unknown>)[name]),
  );
}

/** Schemas of all keywords that are checked, small enough that values often fit. */
const schemas = fc.letrec<{ schema: object | boolean }>((tie) => {
  const inner = tie('schema');
  const leaf = fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object') }),
    fc.record({ enum: fc.array(fc.constantFrom(1, 'a', null, true, [1]), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.constantFrom(1, 'a', null, { a: 1 }) }),
    fc.record({
      minimum: fc.integer({ min: -2, max: 2 }),
      exclusiveMaximum: fc.integer({ min: -2, max: 4 }),
      multipleOf: fc.constantFrom(1, 2),
    }),
    fc.record({ minLength: fc.nat(2), maxLength: fc.nat(3) }),
    fc.record({ minItems: fc.nat(2), maxItems: fc.nat(3), minProperties: fc.nat(1), maxProperties: fc.nat(2) }),
    fc.boolean(),
  );
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.record({
        properties: fc.dictionary(fc.constantFrom('a', 'b'), inner),
        required: fc.subarray(['a', 'b']),
        additionalProperties: inner,
      }),
      fc.record({ prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }), items: inner }),
      fc.record({ contains: inner }),
      fc.record({ allOf: fc.array(inner, { minLength: 1, maxLength: 2 }) }),
      fc.record({
        anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
      }),
      fc.record({ not: inner }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      fc.record({ if: inner, then: inner, else: inner }),
      fc.record({ $ref: fc.constant('#/$defs/x') }),
      fc.record({ propertyNames: inner, dependentRequired: fc.constant({ a: ['b'] }) }),
    ),
  };
}).schema;
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, 1, 2, -1, 1.5, '', 'a', 'ab', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
})).value;

describe('the check of a schema', () => {
  it('comes to what another validator comes to', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const root = { $defs: { x: { type: ['string', 'integer'] } }, allOf: [schema] };
        const plain = JSON.parse(JSON.stringify(value));
        expect(fitsSchema(plain, root, { left: budget })).toBe(
          new Validator(root as Schema, '2020-12').validate(plain).valid,
        );
      }),
      { numRuns: 2_000 },
    );
  });
  it('does not read a pattern of the caller, and takes a schema without an end for none', async () => {
    expect(fitsSchema({ a: `${'a'.repeat(40)}!` }, { properties: { a: { pattern: '^(a+)+$' } } }, { left: 100 })).toBe(
      true,
    );
    expect(await heal('{"a":1,}', { $ref: '#' })).toMatchObject({ kind: 'healed', fitsSchema: null });
  });
});

describe('work', () => {
  const size = 200_000;
  const fill = (part: string, before = '', after = '') =>
    `${before}${part.repeat(Math.floor(size / part.length))}${after}`;
  const names = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { type: 'integer' }]));
  const wide = { type: 'array', items: { type: 'object', properties: names } };
  const doubling = {
    $defs: Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/d0',
  };
  const hostile: readonly [string, string, object?][] = [
    ['open objects', fill('{')],
    ['objects in objects', fill('{"a":1,')],
    ['open lists with many items', fill('1,', '[1,'.repeat(190))],
    ['quotes', fill('"', '{')],
    ['quotes and commas', fill('", ', '{"a":"')],
    ['apostrophes', fill("' x", "{'a':'")],
    ['backslashes', fill('\\n', '{"a":"', '",}')],
    ['brackets in prose', fill('{a ')],
    ['lists in prose', fill('[x ')],
    ['texts that do not end', fill('{"a":"')],
    ['crossed brackets', fill(']}', '['.repeat(199))],
    ['many values', fill('{} ')],
    ['many fences', fill('```{')],
    ['thoughts', fill('<think>')],
    ['spaces', fill(' ', '{"a":1')],
    ['comments', fill('/* */', '{')],
    ['items by members of the schema', fill('{"p1":"1"},', '[', ']'), wide],
    ['items by members of the schema, valid', fill('{"p1":"1"},', '[', '{}]'), wide],
    [
      'values by values of a list',
      fill('"e",', '[', ']'),
      { items: { enum: Array.from({ length: 3_000 }, (_, at) => `e${at}`) } },
    ],
    [
      'a text by lengths',
      fill('x', '["', '",]'),
      { items: { allOf: Array.from({ length: 300 }, () => ({ maxLength: 1 + size })) } },
    ],
    ['references that double', '{"a":1,}', doubling],
  ];
  it.each(hostile)('of %s ends within the budget, or stays and says so', async (_, text, schema = person) => {
    const steps = { left: budget };
    const healed = await healWithin(text, schema, steps);
    // What is counted after it was done is a part of the text at most.
    expect(steps.left).toBeGreaterThan(-size * 1.1);
    if (steps.left < 0) expect(healed).toEqual({ kind: 'left', reason: 'steps' });
  });
  it('of changing types grows with the values alone, not with the members that a schema names', () => {
    const stepsFor = (items: number, named: number) => {
      const schema = { items: { properties: Object.fromEntries(Object.entries(names).slice(0, named)) } };
      const steps = { left: budget };
      coerce(
        { kind: 'list', items: Array.from({ length: items }, () => treeOf('{"p1":"1"}', { left: 100 })) },
        schema,
        steps,
      );
      return budget - steps.left;
    };
    expect(stepsFor(2_000, 3_000) - stepsFor(1_000, 3_000)).toBe(stepsFor(2_000, 10) - stepsFor(1_000, 10));
    expect(stepsFor(2_000, 3_000)).toBeLessThan(2_000 * 40 + 3_000 * 4);
  });
  it('that is long gives others their turn', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      if (isRunning) setImmediate(count);
    };
    let isRunning = true;
    setImmediate(count);
    await heal(fill('{"p1":"1"},', '[', ']'), wide);
    isRunning = false;
    expect(turns).toBeGreaterThan(4);
  });
});
