import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { messagesRequestSchema } from '../../src/schema/messages/request.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/messages.md'));
const cellsBelow = (column: string) => rows.filter(({ columns }) => columns[0] === column).map(({ cells }) => cells);

describe('docs/messages.md', () => {
  it('has every field of the schema, and no other', () => {
    const schema = messagesRequestSchema() as unknown as z.ZodObject;
    const said = cellsBelow('Field').flatMap(([fields = '']) => quoted(fields));
    expect(said.toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  });
});
