import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasOtherNumbers,
  keepDigits,
  keepExact,
  parseExact,
  RawJson,
  stringifyExact,
} from '../../../src/base/exact-json.ts';

describe('a JSON object of which JavaScript would write other numbers', () => {
  it.each(['{"a":12345678901234567890}', '{"a":1.0}', '{"a":[1e3]}', '{"a":-0}', '{"a":0.10}', '{"a":1E400}'])(
    'keeps its text: %s',
    (text) => {
      const read = parseExact(text, 64);
      expect(read).toBeInstanceOf(RawJson);
      expect(stringifyExact({ input: read, n: 1 })).toBe(`{"input":${text},"n":1}`);
      // For whoever shows it, and splices nothing in.
      expect(JSON.parse(JSON.stringify({ input: read }))).toEqual({
        input: JSON.parse(JSON.stringify(JSON.parse(text))),
      });
    },
  );
  it.each(['{"a": 1, "b": [1.5, -2, 0]}', '{"a":"1.0 and 12345678901234567890"}', '{}', '{"1.0":"\\"1.0"}'])(
    'is read where it has none: %s',
    (text) => {
      expect(parseExact(text, 64)).toEqual(JSON.parse(text));
      expect(hasOtherNumbers(text)).toBe(false);
    },
  );
  it('stands where it stood, whatever the texts beside it are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('raw JSON 0', 'raw JSON 1', '"raw JSON 0"'))),
        (texts) => {
          const raw = parseExact('{"n":1.0}', 64);
          const written = stringifyExact({ before: texts, raw, behind: [raw, ...texts] });
          const list = JSON.stringify(texts);
          expect(written).toBe(
            `{"before":${list},"raw":{"n":1.0},"behind":[{"n":1.0}${texts.length > 0 ? ',' : ''}${list.slice(1)}}`,
          );
        },
      ),
    );
  });
  it('is written in at most two passes, however many texts are marks', () => {
    let passes = 0;
    const texts = Array.from({ length: 1_000 }, (_, number) => `raw JSON ${number}`);
    const raw = parseExact('{"n":1.0}', 64);
    const counted = { toJSON: () => ++passes };
    expect(stringifyExact({ counted, texts, raw })).toContain('"raw":{"n":1.0}');
    expect(passes).toBe(2);
  });
});

describe('a body whose fields keep the digits of numbers', () => {
  const keys = new Set(['input', 'args']);
  const raw = '{"id": 12345678901234567890, "of": {"x": [1.0, "}]\\"{"]}}';
  it('has texts under their keys alone', () => {
    const source = `{"usage":{"cost":1.0},"content":[{"a\\"b":[],"input":{"k":1}},{"input" : ${raw} ,"x":[{"args":"1.0"}]}]}`;
    const body = JSON.parse(source);
    keepExact(body, source, keys);
    expect(body.usage).toEqual({ cost: 1 });
    expect(body.content[0]).toEqual({ 'a"b': [], input: { k: 1 } });
    expect(body.content[1].input).toBeInstanceOf(RawJson);
    expect([body.content[1].input.text, body.content[1].x]).toEqual([raw, [{ args: '1.0' }]]);
  });
  it('is left as it is where no object is under a key, or a later one of the same name is another value', () => {
    for (const source of [
      '{"args":[1.0],"n":1.0}',
      '{"args":"{}","n":1.0}',
      '{"args":null,"n":1.0}',
      '{"input":{"n":1.0},"input":2.0}',
    ]) {
      const body = JSON.parse(source);
      keepExact(body, source, keys);
      expect(stringifyExact(body)).toBe(JSON.stringify(JSON.parse(source)));
    }
  });
  it('is the same as before where every value is one that JavaScript writes', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), (json) => {
        const source = `{"input":${json},"more":[${json}, 1.0]}`;
        const body = JSON.parse(source);
        keepExact(body, source, keys);
        expect(JSON.parse(stringifyExact(body))).toEqual(JSON.parse(source));
      }),
    );
  });
});

describe('a body that keeps the digits of numbers for whoever writes them', () => {
  const keys = new Set(['input']);
  const kept = (source: string, isKept?: Parameters<typeof keepDigits>[3]) => {
    const body = JSON.parse(source);
    keepDigits(body, source, keys, isKept);
    return body;
  };
  it('is what JavaScript makes of it to everybody else', () => {
    const body = kept('{"a":[{"type":"x", "input": {"id" : 12345678901234567890, "s":"1.0 \\u00e9" , "e":{}}}]}');
    const [block] = body.a;
    expect(Object.keys(block.input)).toEqual(['id', 's', 'e']);
    expect(JSON.stringify(body)).toBe('{"a":[{"type":"x","input":{"id":12345678901234567000,"s":"1.0 é","e":{}}}]}');
    const exact = '{"id":12345678901234567890,"s":"1.0 é","e":{}}';
    expect(stringifyExact(body)).toBe(`{"a":[{"type":"x","input":${exact}}]}`);
    expect(stringifyExact(block.input)).toBe(exact);
    expect(stringifyExact({ ...block, type: 'y' })).toBe(`{"type":"y","input":${exact}}`);
    expect(stringifyExact({ input: { ...block.input, s: '' } })).toBe(
      '{"input":{"id":12345678901234567000,"s":"","e":{}}}',
    );
    expect(structuredClone(body)).toEqual(JSON.parse(JSON.stringify(body)));
  });
  it.each([
    ['a member that comes twice', '{"input":{"a":"bob@example.com","a":1.0}}'],
    ['another object of the same name', '{"input":{"a":"bob@example.com","n":1.0},"input":{"a":"x"}}'],
    ['a number that is none here', '{"input":{"n":1e999,"m":1.0}}'],
    ['members that JavaScript puts into another order', '{"input":{"2":1.0,"1":1.0}}'],
    ['a function of its own', '{"input":{"toJSON":1.0}}'],
    ['a prototype', '{"input":{"__proto__":{"a":1},"n":1.0,"__proto__":{"a":2}}}'],
  ])('tells nothing that its value does not: %s', (_, source) => {
    expect(stringifyExact(kept(source))).toBe(JSON.stringify(JSON.parse(source)));
  });
  it('has the objects that are meant alone', () => {
    const source = '{"type":"x","input":{"n":1.0},"more":{"type":"y","input":{"n":2.0}}}';
    expect(stringifyExact(kept(source, ({ type }) => type === 'y'))).toBe(
      '{"type":"x","input":{"n":1},"more":{"type":"y","input":{"n":2.0}}}',
    );
  });
  it('never says anything else than its value', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), (json) => {
        const body = kept(`{"input":{"of":${json},"n":1.0}}`);
        expect(JSON.parse(stringifyExact(body))).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });
});
