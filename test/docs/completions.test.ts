import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { textCompletionRequestSchema } from '../../src/schema/completions/request.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

describe('docs/completions.md', () => {
  it('has every field of the schema, and no other', () => {
    const rows = tableRows(readDoc('docs/completions.md')).filter(({ columns }) => columns[0] === 'Field');
    const schema = textCompletionRequestSchema() as unknown as z.ZodObject;
    const said = rows.flatMap(({ cells: [fields = ''] }) => quoted(fields));
    expect(said.toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  });
});
