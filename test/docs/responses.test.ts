import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { askOfResponses } from '../../src/formats/responses/request/index.ts';
import type { Gateway } from '../../src/gateway.ts';
import {
  hostedItemTypes,
  isCommand,
  refusedTools,
  responsesIssues,
  responsesRequestSchema,
} from '../../src/schema/responses/responses.ts';
import { recordSettingsSchema } from '../../src/schema/settings/records.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const rows = tableRows(readDoc('docs/responses.md'));
const cellsBelow = (column: string) => rows.filter(({ columns }) => columns[0] === column).map(({ cells }) => cells);
const request = (body: object) => responsesRequestSchema().parse({ input: 'Hi', ...body });

interface Shown {
  gateway: Gateway;
  first: { id: string };
  second: { id: string; store: boolean; output: object[] };
  items: { data: { content: { text: string }[] }[] };
  again: object;
  gone: object;
  conversation: { id: string; metadata: object };
  later: { conversation: object };
  said: Shown['items'];
}

describe('docs/responses.md', () => {
  it('shows how a kept response is gone on from, read and deleted', async () => {
    const examples = examplesOf('docs/responses.md');
    expect(examples).toHaveLength(2);
    const shown: Shown = await import(/* @vite-ignore */ writeExample('responses-stored', examples.join('\n')));
    const { conversation, later, said, gateway, first, second, items, again, gone } = shown;
    expect(second).toMatchObject({ store: true, previous_response_id: first.id });
    expect(items.data.map(({ content }) => content[0]?.text)).toEqual(['One', 'One', 'Two']);
    expect(again).toEqual(second);
    expect(gone).toEqual({ id: first.id, object: 'response', deleted: true });
    expect(conversation.metadata).toEqual({ topic: 'parcels' });
    expect(later.conversation).toEqual({ id: conversation.id });
    expect(said.data.map(({ content }) => content[0]?.text)).toEqual(['One', 'One', 'Two', 'Two']);
    await gateway.close();
  });
  it('says rightly how long, and how many responses are kept', () => {
    const { responsesTtlMs, conversationsTtlMs } = recordSettingsSchema().parse({});
    expect(readDoc('docs/responses.md')).toContain(`\`records.responsesTtlMs\`, ${responsesTtlMs / 86_400_000} days`);
    expect(readDoc('docs/responses.md')).toContain(
      `\`records.conversationsTtlMs\`, ${conversationsTtlMs / 86_400_000} days after`,
    );
  });
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
