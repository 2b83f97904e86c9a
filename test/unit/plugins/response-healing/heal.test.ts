import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerce } from '../../../../src/plugins/response-healing/coerce.ts';
import { heal as healUpTo } from '../../../../src/plugins/response-healing/heal.ts';
import { schemaCheck } from '../../../../src/plugins/response-healing/schema-check.ts';

const heal = (text: string, schema: object | null) => healUpTo(text, schema, 32_000);
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
    ['a fence that is not closed', 'Sure!\n```json\n{"name":"Ada","age":36}', { name: 'Ada', age: 36 }, ['extracted']],
    ['prose around it', 'Here it is: {"name":"Ada","age":36}. Enjoy!', { name: 'Ada', age: 36 }, ['extracted']],
    ['a trailing comma', '{"name":"Ada","age":36,}', { name: 'Ada', age: 36 }, ['repaired']],
    ['keys without quotes', '{name:"Ada",age:36}', { name: 'Ada', age: 36 }, ['repaired']],
    ['single quotes', "{'name':'Ada','age':36}", { name: 'Ada', age: 36 }, ['repaired']],
    ['no closing brackets', '{"name":"Ada","age":36,"tags":["x"', { name: 'Ada', age: 36, tags: ['x'] }, ['repaired']],
    ['comments', '{"name":"Ada", // her name\n"age":36}', { name: 'Ada', age: 36 }, ['repaired']],
    ['words of Python', '{"name":"Ada","age":36,"ok":True}', { name: 'Ada', age: 36, ok: true }, ['repaired']],
    ['prose and a fault', 'Well: {name:"Ada",age:36,} ok?', { name: 'Ada', age: 36 }, ['extracted', 'repaired']],
    ['a number as text', '{"name":"Ada","age":"36"}', { name: 'Ada', age: 36 }, ['coerced']],
    ['a text as number', '{"name":7,"age":36}', { name: '7', age: 36 }, ['coerced']],
    ['one value for a list', '{"name":"Ada","age":36,"tags":"x"}', { name: 'Ada', age: 36, tags: ['x'] }, ['coerced']],
  ])('with %s is healed', (_, text, value, fixes) => {
    const healed = heal(text, person);
    expect([JSON.parse(healed?.text ?? 'null'), healed?.fixes, healed?.fitsSchema]).toEqual([value, fixes, true]);
  });
  it.each<[string, string, object | null]>([
    ['is valid', ' {"name": "Ada",\n"age": 36} ', person],
    ['is valid without a schema', '[1, 2]', null],
    ['has more than one number would lose', '{"name":"Ada","age":"36.5 years"}', person],
    ['has digits that a number would lose', '{"name":"Ada","age":"036"}', person],
    ['is prose', 'I cannot do that.', person],
    ['is empty', '', person],
    ['is nested too deep', '['.repeat(201), null],
  ])('that %s stays as it is', (_, text, schema) => {
    expect(heal(text, schema)).toBe(null);
  });
  it('of another shape is at least JSON', () => {
    expect(heal('{"title":"x",}', person)).toEqual({ text: '{"title":"x"}', fixes: ['repaired'], fitsSchema: false });
  });
  it('cannot change a prototype', () => {
    const healed = heal('{"__proto__":{"age":1},"name":"Ada","age":"36",}', person);
    expect(JSON.parse(healed?.text ?? '{}')).toMatchObject({ name: 'Ada', age: 36 });
    expect(({} as { age?: number }).age).toBe(undefined);
    expect(coerce(JSON.parse('{"a":"1"}'), JSON.parse('{"properties":{"__proto__":{"type":"integer"}}}'))).toEqual({
      a: '1',
    });
  });
});

/** Documents of all kinds, and what models do to them. */
const documents = fc.sample(
  fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 5 }),
  {
    numRuns: 500,
    seed: 4711,
  },
);
const mutations: Record<string, (json: string, at: number) => string> = {
  'a fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
  'prose before and after': (json) => `Here is the JSON you asked for:\n${json}\nLet me know!`,
  'a trailing comma': (json) => json.replace(/([}\]])$/, ',$1'),
  'keys without quotes': (json) => json.replace(/"([a-z]+)":/g, '$1:'),
  'single quotes': (json) =>
    json.includes("'") || json.includes('\\') ? json.replace(/}$/, ',}') : json.replaceAll('"', "'"),
  'no closing bracket': (json) => json.slice(0, -1),
  'a comment': (json) => json.replace(/^\{/, '{ /* the answer */ '),
  'a missing comma': (json) => json.replace(/,"/, ' "'),
  'an ellipsis': (json) => json.replace(/}$/, ', ...}'),
  'a second closing bracket': (json) => `${json}}`,
};

describe('500 broken documents', () => {
  it('are healed but for a few, and no valid one is changed', () => {
    const names = Object.keys(mutations);
    let repaired = 0;
    let broken = 0;
    let valid = 0;
    const missed: Record<string, number> = {};
    for (const [at, value] of documents.entries()) {
      const json = JSON.stringify(value);
      expect(heal(json, null)).toBe(null);
      expect(heal(json, { type: 'object' })).toBe(null);
      valid += 2;
      const name = names[at % names.length] as string;
      const text = (mutations[name] as (json: string, at: number) => string)(json, at);
      if (text === json) continue;
      broken++;
      const healed = heal(text, { type: 'object' });
      if (healed !== null && JSON.stringify(JSON.parse(healed.text)) === json) repaired++;
      else missed[name] = (missed[name] ?? 0) + 1;
    }
    process.stdout.write(
      `healed exactly: ${repaired} of ${broken} broken documents; 0 of ${valid} valid ones changed; missed: ${JSON.stringify(missed)}\n`,
    );
    expect(broken).toBeGreaterThan(450);
    expect(repaired / broken).toBeGreaterThan(0.9);
  });
});

describe('the check of a schema', () => {
  it('does not take for ever, whatever a caller wrote', () => {
    const doubling = {
      $defs: Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [
          `d${at}`,
          { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
        ]),
      ),
      $ref: '#/$defs/d0',
    };
    const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
    const branching = { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } };
    expect(schemaCheck(doubling)(1)).toBe(null);
    expect(schemaCheck(branching)(deep)).toBe(null);
    expect(schemaCheck({ $ref: '#' })(1)).toBe(null);
    expect(schemaCheck({ properties: { a: { pattern: '^(a+)+$' } } })({ a: `${'a'.repeat(40)}!` })).toBe(true);
    expect(schemaCheck({ properties: { pattern: { type: 'string' } } })({ pattern: 1 })).toBe(false);
  });
});

describe('a hostile text', () => {
  const shapes: Record<string, (size: number) => string> = {
    brackets: (size) => '[]'.repeat(size / 2),
    quotes: (size) => `{${'"'.repeat(size)}`,
    fences: (size) => '```\n'.repeat(size / 4),
    'open objects': (size) => '{"a":1,'.repeat(size / 7),
    backslashes: (size) => `{"a":"${'\\'.repeat(size)}`,
    commas: (size) => `{${','.repeat(size)}}`,
    'words without quotes': (size) => `{${'a '.repeat(size / 2)}}`,
    'trailing commas': (size) => `[${'{"a":1,},'.repeat(size / 9)}]`,
    comments: (size) => `{${'/* '.repeat(size / 3)}}`,
  };
  it.each(Object.entries(shapes))('of %s takes little more time where it is long', (_, shape) => {
    const timeOf = (size: number) => {
      const text = shape(size);
      const start = performance.now();
      heal(text, person);
      return performance.now() - start;
    };
    timeOf(2_000);
    // Nobody else is served meanwhile: what is too long for a repair must not take longer than one that is not.
    const [small, large] = [Math.max(timeOf(30_000), 1), timeOf(160_000)];
    expect(large / small).toBeLessThan(40);
  });
});
