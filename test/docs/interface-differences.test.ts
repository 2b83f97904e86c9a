import { expect, it } from 'vitest';
import { type ApiDocument, differences } from '../../scripts/interface-differences.ts';
import { currentPage, pagePath, writePage } from '../../scripts/interface-differences-page.ts';
import { describeWithShared, sharedPath } from '../support/reference.ts';
import { readDoc } from './markdown.ts';

const schema = (properties: Record<string, object>, required: string[] = []) =>
  ({ type: 'object', properties, required }) as object;
const document = (request: object, response: object): ApiDocument =>
  ({
    paths: {
      '/things': {
        post: {
          requestBody: { content: { 'application/json': { schema: request } } },
          responses: { 200: { content: { 'application/json': { schema: response } } } },
        },
      },
    },
    components: { schemas: { Tree: schema({ child: { $ref: '#/components/schemas/Tree' } }) } },
  }) as never;
const nothing = schema({});

describeWithShared('docs/interface-differences.md', () => {
  it('is what `npm run docs` writes, with a reason for every difference', () => {
    expect(readDoc(pagePath)).toBe(currentPage(sharedPath('interface/reference-openapi.json')));
  });
});

it('has no page where a difference has no reason, or a reason explains nothing', () => {
  const odd = { operation: 'GET /x', place: 'response', field: 'a', what: 'upside down' } as const;
  expect(() => writePage([odd])).toThrow('no reason for: GET /x response a: upside down');
  expect(() => writePage([])).toThrow('No difference has the reason');
});

it.each<[string, object, object, string[]]>([
  [
    'a field of one alone',
    schema({ a: {}, b: {} }),
    schema({ a: {}, c: {} }),
    ['c only in the reference', 'b only here'],
  ],
  ['what such a field holds, not as well', schema({}), schema({ a: schema({ b: {} }) }), ['a only in the reference']],
  ['a type less', { type: 'string' }, { type: ['string', 'null'] }, [' never null']],
  ['a type more', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string' }, [' also null']],
  ['a value less and one more', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }, [' never "c"', ' also "a"']],
  ['a list of values where any will do', { type: 'string' }, { enum: ['a'] }, [' any value']],
  ['nothing, of a number and an integer', { type: 'integer' }, { type: 'number' }, []],
  ['nothing, of a schema that holds itself', { $ref: '#/components/schemas/Tree' }, schema({ child: {} }), []],
  ['items of lists', { items: schema({ a: {} }) }, { items: schema({}) }, ['[].a only here']],
])('finds %s', (_, own, theirs, found) => {
  const all = differences(document(nothing, own), document(nothing, theirs));
  expect(all.map(({ field, what }) => `${field} ${what}`)).toEqual(found);
});

it('finds what a request needs here, and what a response may lack', () => {
  const [may, must] = [schema({ a: {} }), schema({ a: {} }, ['a'])];
  const found = (own: ApiDocument, theirs: ApiDocument) => differences(own, theirs).map(({ what }) => what);
  expect(found(document(must, must), document(may, may))).toEqual(['required here']);
  expect(found(document(may, may), document(must, must))).toEqual(['may be absent here']);
});
