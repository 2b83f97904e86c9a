import { describe, expect, it } from 'vitest';
import { withOutputDeltas, withOutputItem } from '../../../../src/call/output-item.ts';
import { compactionItemEncoder } from '../../../../src/formats/responses/compaction-item-encoder.ts';
import { askOfTriggered, compactionTrigger } from '../../../../src/formats/responses/compaction-request.ts';
import { unpackCompaction } from '../../../../src/formats/responses/packed-compaction.ts';
import { askOfResponses } from '../../../../src/formats/responses/request/index.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { type ResponsesRequest, responsesRequestSchema } from '../../../../src/schema/responses/responses.ts';
import { checkResponsesStream, type Loose } from '../../../support/check-responses.ts';
import { callDeltas, end, head, newEncoder, resultOf, streamOf } from '../../../support/responses-encoding.ts';

const streamed = (deltas: readonly ChunkDelta[], reason: 'stop' | 'length' = 'stop') =>
  checkResponsesStream(streamOf(deltas, reason, compactionItemEncoder(newEncoder()))).final;
const own = { type: 'compaction', id: 'cmp_own', encrypted_content: 'gAAAA' };
const ofUpstream = () => withOutputItem({}, { index: 1, item: own, isOpaque: true, isDone: true });

describe('the response to a compaction trigger', () => {
  it('is one item with what the model said, and nothing of its thoughts and calls', () => {
    const deltas = [{ reasoning: 'Hm' }, { content: 'We read ' }, { content: 'a.ts. ' }, ...callDeltas(0, 'f', ['{}'])];
    const { status, output } = streamed(deltas);
    expect([status, output.length, output[0]?.type, output[0]?.id]).toEqual([
      'completed',
      1,
      'compaction',
      `cmp_${head.id}`,
    ]);
    expect(unpackCompaction(String(output[0]?.encrypted_content))).toBe('We read a.ts.');
    const message = { content: 'We read a.ts. ', reasoning: 'Hm' };
    const whole = compactionItemEncoder(newEncoder()).result(head, resultOf(message), end) as Loose;
    expect(whole.output).toEqual(output);
  });
  it('is the item of an upstream that compacts by itself', () => {
    expect(streamed([{ reasoning: 'Hm' }, ofUpstream()]).output).toEqual([own]);
    const result = resultOf({ content: null });
    withOutputDeltas(result.choices[0]?.message as object, [{ delta: ofUpstream() }]);
    const encoder = compactionItemEncoder(newEncoder());
    encoder.check?.(result);
    expect((encoder.result(head, result, end) as Loose).output).toEqual([own]);
  });
  it('is incomplete where the summary was cut short', () => {
    const { status, output } = streamed([{ content: 'We' }], 'length');
    expect([status, unpackCompaction(String(output[0]?.encrypted_content))]).toEqual(['incomplete', 'We']);
  });
  it('fails where the model says nothing: the conversation must not be lost', () => {
    expect(streamed([{ content: ' ' }])).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
      output: [],
    });
    const encoder = compactionItemEncoder(newEncoder());
    expect(() => encoder.check?.(resultOf({ content: ' ' }))).toThrow(/no summary/);
  });
});

describe('a request with a compaction trigger', () => {
  const parse = (body: object) => responsesRequestSchema().parse({ model: 'acme/large', ...body }) as ResponsesRequest;
  const asked = { role: 'user', content: 'Hello' };
  const trigger = { type: 'compaction_trigger' };

  it('asks the model for a summary, and an upstream that knows the item for the item', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {} }];
    const body = parse({ input: [asked, trigger], tools, text: { format: { type: 'json_object' } }, stream: true });
    const { request: chat, native } = askOfTriggered(body, compactionTrigger(body) as typeof trigger);
    expect(chat).toMatchObject({ stream: true, tool_choice: 'none', messages: [asked, { role: 'user' }] });
    expect(chat.messages[1]?.content).toMatch(/Write a summary/);
    expect(chat).not.toHaveProperty('response_format');
    expect(native?.items[1]).toEqual([trigger]);
    expect([native?.onlyNative, native?.purpose]).toEqual([[], 'respond']);
  });
  it('is one only where the trigger is the last item', () => {
    expect(compactionTrigger(parse({ input: 'Hello' }))).toBeNull();
    expect(compactionTrigger(parse({ input: [trigger, asked] }))).toBeNull();
  });
  it('may change its configuration: what the change is for reads it, others are listed', () => {
    const update = { type: 'configuration_update', reasoning: { effort: 'low' } };
    const { request: chat, native } = askOfResponses(parse({ input: [asked, update] }));
    expect(chat.messages).toEqual([asked]);
    expect(native?.items[0]).toEqual([asked, update]);
    expect([native?.onlyNative, native?.dropped]).toEqual([[], ['input[].configuration_update']]);
  });
});
