import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { askOfResponses } from '../../src/formats/responses/request/index.ts';
import {
  hostedItemTypes,
  isCommand,
  refusedTools,
  responsesIssues,
  responsesRequestSchema,
} from '../../src/schema/responses/responses.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/responses.md'));
const cellsBelow = (column: string) => rows.filter(({ columns }) => columns[0] === column).map(({ cells }) => cells);
const request = (body: object) => responsesRequestSchema().parse({ input: 'Hi', ...body });

describe('docs/responses.md', () => {
  it('has every field of the schema, and no other', () => {
    const schema = responsesRequestSchema() as unknown as z.ZodObject;
    const said = cellsBelow('Field').flatMap(([fields = '']) => quoted(fields));
    expect(said.toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  });

  it.each([
    ['max_tool_calls', 3],
    ['context_management', [{ type: 'compaction' }]],
    ['client_metadata', { a: 'b' }],
  ])('says rightly that %s is dropped over chat', (field, value) => {
    const row = cellsBelow('Field').find(([fields = '']) => quoted(fields).includes(field));
    expect(row?.[1]).toMatch(/over chat (?:it is|they are) dropped/);
    expect(askOfResponses(request({ [field]: value })).native?.dropped).toEqual([field]);
  });

  it('says of every tool that is refused that it is', () => {
    const [tools = ''] = cellsBelow('Tool').find(([, form = '']) => form.startsWith('400')) ?? [];
    for (const type of quoted(tools)) {
      expect(refusedTools).toContain(type);
      expect(responsesIssues(request({ tools: [{ type }] }))).toMatchObject([{ path: 'tools[0].type' }]);
    }
  });

  it('says rightly which items are dropped, and which only some providers read', () => {
    const typesOf = (form: string) =>
      quoted(cellsBelow('Item').find(([, over = '']) => over.startsWith(form))?.[0] ?? '');
    const ask = { role: 'user', content: 'Hi' };
    for (const type of typesOf('dropped')) {
      expect(hostedItemTypes).toContain(type);
      expect(askOfResponses(request({ input: [ask, { type }] })).native?.dropped).toEqual([`input[].${type}`]);
    }
    expect(hostedItemTypes.filter(isCommand)).toEqual(
      typesOf('only providers').filter((type) => type !== 'compaction'),
    );
  });
});
