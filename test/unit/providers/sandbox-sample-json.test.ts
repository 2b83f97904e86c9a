import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleJson } from '../../../src/providers/sandbox/sample-json/index.ts';
import { samplePattern } from '../../../src/providers/sandbox/sample-json/pattern.ts';
import { SampleError } from '../../../src/providers/sandbox/sample-json/scalar.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });
const fits = (schema: object, value: unknown) => ajv.validate({ ...schema, $id: undefined }, value);

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        children: { type: 'array', items: { $ref: '#/$defs/node' } },
      },
      required: ['name', 'next', 'children'],
      additionalProperties: false,
    },
  },
};

describe('a value made for a JSON schema', () => {
  it.each<[object, unknown]>([
    [{}, 'sandbox'],
    [{ type: 'string' }, 'sandbox'],
    [{ type: 'string', maxLength: 3 }, 'san'],
    [{ type: 'string', minLength: 12 }, 'sandbox sand'],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ type: 'string', format: 'constructor' }, 'sandbox'],
    [{ type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' }, 'AA-0000'],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'boolean' }, true],
    [{ type: 'integer' }, 0],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'integer', exclusiveMinimum: 3 }, 4],
    [{ type: 'integer', minimum: -9, maximum: -7 }, -9],
    [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 0.5 }, 0.5],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 }, 0.25],
    [{ const: { a: [1] } }, { a: [1] }],
    [{ enum: ['red', 'green'] }, 'red'],
    [{ type: 'integer', enum: ['red', 2] }, 2],
    [{ type: 'array', items: { type: 'integer' } }, [0]],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 3 }, [true, true, true]],
    [{ type: 'array', items: { type: 'boolean' }, maxItems: 0 }, []],
    [{ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'null' }], items: false }, [0, null]],
    [{ type: 'array', items: false }, []],
    [
      { type: 'object', properties: { b: { type: 'null' }, a: { type: 'boolean' } }, required: ['a'] },
      { a: true, b: null },
    ],
    [{ type: 'object', properties: { a: { type: 'boolean' }, b: false } }, { a: true }],
    [{ type: 'object', properties: { a: { type: 'boolean' }, b: { not: {} } } }, { a: true }],
    [{ type: 'object', required: ['x'], additionalProperties: { type: 'integer' } }, { x: 0 }],
    [
      { type: 'object', minProperties: 2, additionalProperties: { type: 'null' } },
      { sandbox_0: null, sandbox_1: null },
    ],
    [
      {
        type: 'object',
        properties: { constructor: { type: 'null' } },
        allOf: [{ properties: { toString: { type: 'null' } } }],
      },
      { constructor: null, toString: null },
    ],
    [{ properties: { a: { type: 'null' } } }, { a: null }],
    [{ anyOf: [false, { type: 'integer' }] }, 0],
    [{ oneOf: [{ not: {} }, { const: 'b' }] }, 'b'],
    [
      {
        type: 'object',
        properties: { kind: { const: 'a' } },
        required: ['kind'],
        anyOf: [{ properties: { kind: { const: 'b' } } }, { properties: { size: { type: 'integer' } } }],
      },
      { kind: 'a', size: 0 },
    ],
    [
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } },
          { properties: { a: { minimum: 5 }, b: true }, required: ['b'] },
        ],
      },
      { a: 5, b: 'sandbox' },
    ],
    [{ allOf: [{ type: 'number' }, { type: ['integer', 'string'] }, { minimum: 2 }] }, 2],
    [{ allOf: [{ enum: [1, 2, 3] }, { enum: [3, 2] }] }, 2],
    [
      {
        allOf: [{ properties: { a: true }, additionalProperties: false, type: 'object' }, { properties: { b: true } }],
      },
      { a: 'sandbox' },
    ],
    [{ $defs: { 'a/b %': { type: 'null' } }, $ref: '#/$defs/a~1b%20%25' }, null],
  ])('for %j', (schema, expected) => {
    const value = sampleJson(schema);
    expect(value).toEqual(expected);
    expect(fits(schema, value), ajv.errorsText()).toBe(true);
  });

  it('ends for a schema that refers to itself', () => {
    const value = sampleJson(tree);
    expect(fits(tree, value), ajv.errorsText()).toBe(true);
    expect(JSON.stringify(value).length).toBeLessThan(5_000);
  });

  it.each<[unknown, RegExp]>([
    [false, /^#: no value fits/],
    ['string', /^#: no value fits/],
    [{ type: 'object', properties: { a: { type: 'colour' } }, required: ['a'] }, /^#\/a: unknown type/],
    [{ not: { type: 'string' } }, /^#: "not" is not supported/],
    [{ type: 'string', pattern: '(?=a)b' }, /"pattern" is not supported/],
    [{ type: 'string', minLength: 3, maxLength: 2 }, /length/],
    [{ type: 'string', minLength: 1e9 }, /length/],
    [{ type: 'array', minItems: 1e9 }, /minItems/],
    [{ type: 'array', minItems: 2, uniqueItems: true }, /uniqueItems/],
    [{ type: 'integer', minimum: 0.2, maximum: 0.8 }, /no number/],
    [{ type: 'string', const: 5 }, /no value fits/],
    [{ enum: [] }, /no value fits/],
    [{ type: 'object', required: ['a'], additionalProperties: false }, /"a" is required and not allowed/],
    [{ allOf: [{ type: 'string' }, { type: 'number' }] }, /allOf/],
    [{ $ref: '#/$defs/none' }, /leads nowhere/],
    [{ $ref: 'https://example.com/schema.json' }, /within the schema/],
    [{ const: 'x'.repeat(120_000) }, /longer than/],
    [{ $ref: '#' }, /nested too deep/],
    [{ type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] }, /nested too deep/],
  ])('is refused for %j', (schema, reason) => {
    expect(() => sampleJson(schema)).toThrow(reason);
    expect(() => sampleJson(schema)).toThrow(SampleError);
  });

  it('costs little however alternatives multiply', () => {
    const bomb = {
      $defs: { a: { anyOf: Array(10).fill({ type: 'array', items: { $ref: '#/$defs/a' }, minItems: 2 }) } },
      $ref: '#/$defs/a',
    };
    expect(() => sampleJson(bomb)).toThrow(/nested too deep/);
  });

  it('fits whatever schema of the supported kind, or is refused', () => {
    const leaf = fc.oneof(
      fc.record(
        { type: fc.constant('string'), minLength: fc.nat(9), maxLength: fc.nat(20) },
        { requiredKeys: ['type'] },
      ),
      fc.record(
        {
          type: fc.constantFrom('integer', 'number'),
          minimum: fc.integer({ min: -20, max: 20 }),
          exclusiveMaximum: fc.integer({ min: -20, max: 40 }),
          multipleOf: fc.constantFrom(1, 2, 5),
        },
        { requiredKeys: ['type'] },
      ),
      fc.record({
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 3 }),
      }),
      fc.constantFrom({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, {}),
    );
    const names = fc.constantFrom('a', 'b', 'c', 'constructor');
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record(
          { type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3), maxItems: fc.nat(4) },
          { requiredKeys: ['type'] },
        ),
        fc.record(
          {
            type: fc.constant('object'),
            properties: fc.dictionary(names, tie('schema')),
            required: fc.uniqueArray(names),
            additionalProperties: fc.boolean(),
            minProperties: fc.nat(2),
            maxProperties: fc.nat(4),
          },
          { requiredKeys: ['type'] },
        ),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    let made = 0;
    fc.assert(
      fc.property(schema, (some) => {
        let value: unknown;
        try {
          value = sampleJson(some);
        } catch (error) {
          expect(error).toBeInstanceOf(SampleError);
          return;
        }
        made += 1;
        expect(
          fits(some as object, JSON.parse(JSON.stringify(value))),
          `${JSON.stringify(some)} ${JSON.stringify(value)}`,
        ).toBe(true);
      }),
      { seed: 1, numRuns: 600 },
    );
    expect(made).toBeGreaterThan(300);
  });
});

describe('a text made for a pattern', () => {
  it.each([
    '^abc$',
    '^[a-z]+$',
    '\\d{3}-\\d{4}',
    '^(red|green)$',
    '^a?b*c+$',
    '^[^a]$',
    '^[^a-z0-9]+$',
    '^[^\\w\\s]$',
    '^\\w+@\\w+\\.com$',
    '^(?:ab){2,}$',
    '^(?<year>\\d{4})$',
    '^[\\]x]$',
    '^[\\\\]$',
    '^\\$5$',
    '^.{5}$',
    '^[-.]$',
    '',
    'a|b',
    '^a|b$',
    '^#[0-9a-fA-F]{6}$',
    '^😀{2}$',
    '^[A-Z][a-z]*?$',
    '^[\\d.]+$',
    '^\\s\\S\\D\\W$',
    '(x)',
  ])('%s fits it', (pattern) => {
    const text = samplePattern(pattern, { min: 0, max: Infinity });
    expect(text).toMatch(new RegExp(pattern, 'u'));
  });
  it.each([
    ['^[a-z]+$', 12, 20],
    ['^(ab)*$', 3, 4],
    ['^\\d{2,8}$', 8, 8],
  ])('%s with %i to %i characters', (pattern, min, max) => {
    const text = samplePattern(pattern, { min, max }) ?? '';
    expect(text).toMatch(new RegExp(pattern, 'u'));
    expect(text.length).toBeGreaterThanOrEqual(min);
    expect(text.length).toBeLessThanOrEqual(max);
  });
  it.each([
    '(?=a)b',
    '(?!a)',
    '\\bx',
    '(a)\\1',
    '\\p{L}',
    '[\\u0041-Z]',
    '[^\\u0061]',
    'a^b',
    'a$b',
    '(',
    '[a',
    'a{3,1}',
    '*a',
    '(?i)a',
    '\\',
    '[]',
    'x'.repeat(1_001),
    '((((((((((((((((((((((a))))))))))))))))))))))',
    '((a{999}){999}){999}',
  ])('%s is left alone', (pattern) => {
    expect(samplePattern(pattern, { min: 0, max: Infinity })).toBeNull();
  });
  it('is never run: a pattern built to run forever costs nothing', () => {
    expect(samplePattern('^(a+)+b$', { min: 0, max: Infinity })).toBe('ab');
    expect(samplePattern('^(((a*)*)*)*b$', { min: 900, max: 1_000 })).toBeNull();
  });
});

describe('a schema that is made to be slow', () => {
  const many = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));

  it.each<[string, object]>([
    [
      'lists without a common value',
      { allOf: [{ enum: many(9000, (at) => at) }, { enum: many(9000, (at) => -at - 1) }] },
    ],
    ['thousands of parts', { allOf: many(6000, (at) => ({ [`k${at}`]: 1 })) }],
    ['thousands of parts with a property each', { allOf: many(3000, (at) => ({ properties: { [`k${at}`]: {} } })) }],
    [
      'alternatives beside thousands of keywords',
      { ...Object.fromEntries(many(5000, (at) => [`x${at}`, 1])), anyOf: many(1900, () => ({ not: {} })) },
    ],
    ['repeats of nothing', { type: 'string', pattern: '((((){9999}){9999}){9999}){9999}' }],
    ['repeats of nothing for a long text', { type: 'string', minLength: 1000, pattern: `${'a?'.repeat(450)}()*` }],
  ])('is refused before it takes long: %s', (_, schema) => {
    const start = cpuMs();
    expect(() => sampleJson(schema)).toThrow(SampleError);
    // Some tens of milliseconds; without a limit on the work ten seconds and more.
    expect(cpuMs() - start).toBeLessThan(2000);
  });
});
