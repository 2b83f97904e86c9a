import { describe, expect, it } from 'vitest';
import { joinedDetails } from '../../../src/formats/reasoning.ts';
import type { ReasoningDetail } from '../../../src/schema/chat/chat.ts';

const text = (said: string, more: object = {}): ReasoningDetail => ({ type: 'reasoning.text', text: said, ...more });
const hidden = (data: string, more: object = {}): ReasoningDetail => ({ type: 'reasoning.encrypted', data, ...more });

describe('details of thoughts that came in pieces', () => {
  it.each<[string, ReasoningDetail[], object[]]>([
    ['pieces without an index', [text('a'), text('b')], [{ text: 'ab' }]],
    [
      'pieces of one index, of which one names its format',
      [text('a', { index: 0, format: 'x' }), text('b', { index: 0 })],
      [{ text: 'ab', format: 'x' }],
    ],
    [
      'a signature behind its text',
      [text('a'), { type: 'reasoning.text', signature: 's' }],
      [{ text: 'a', signature: 's' }],
    ],
    [
      'summaries and encrypted texts of one index',
      [
        { type: 'reasoning.summary', summary: 'a', index: 0 },
        { type: 'reasoning.summary', summary: 'b', index: 0 },
        hidden('c', { index: 1 }),
        hidden('d', { index: 1 }),
      ],
      [{ summary: 'ab' }, { data: 'cd' }],
    ],
  ])('joins %s', (_, pieces, joined) => {
    const before = structuredClone(pieces);
    expect(joinedDetails(pieces)).toMatchObject(joined);
    expect(joinedDetails(pieces)).toHaveLength(joined.length);
    expect(pieces).toEqual(before);
  });
  it.each<[string, ReasoningDetail[]]>([
    ['indexes', [text('a', { index: 0 }), text('b', { index: 1 })]],
    ['formats', [text('a', { format: 'x' }), text('b', { format: 'y' })]],
    ['ids', [hidden('a', { index: 0, id: '1' }), hidden('b', { index: 0, id: '2' })]],
    ['types', [text('a'), hidden('b')]],
    ['a signature before it', [text('a', { signature: 's' }), text('b')]],
    ['no index, where they are encrypted', [hidden('a'), hidden('b')]],
  ])('keeps details apart by their %s', (_, pieces) => {
    expect(joinedDetails(pieces)).toEqual(pieces);
  });
});
