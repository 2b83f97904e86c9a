import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { createContentQueue } from '../../../src/telemetry/records/content-queue.ts';

const none = { messages: [], completion: null, reasoning: null, toolCalls: [] };
const content = (completion: string) => ({ ...none, completion });
/** As it waits, a text of 900 characters takes a little more. */
const long = content('x'.repeat(900));
let number = 0;
const recordOf = (workspaceId: string) => ({ id: `gen-${number++}`, workspaceId }) as RequestRecord;

describe('the content of requests that waits to be written', () => {
  const queueOf = (contentQueueChars: number) => {
    const lines: unknown[] = [];
    const logger = { warn: (fields: unknown) => void lines.push(fields) } as never;
    return { queue: createContentQueue(logger, { maxContentChars: 10_000, contentQueueChars }), lines };
  };

  it('is dropped where it would be more than all others have, and of nobody else', () => {
    const { queue, lines } = queueOf(10_000);
    const quiet = recordOf('quiet');
    queue.add(quiet, content('Hello'));
    const loud = Array.from({ length: 50 }, () => recordOf('loud'));
    for (const record of loud) queue.add(record, long);
    expect(queue.take(quiet)).toContain('Hello');
    expect(loud.filter((record) => queue.take(record) !== undefined).length).toBeGreaterThan(5);
    expect(lines).toContainEqual({ dropped: 10 });
  });
  it('makes room for that of a workspace that has less', () => {
    const { queue } = queueOf(10_000);
    const loud = Array.from({ length: 50 }, () => recordOf('loud'));
    for (const record of loud) queue.add(record, long);
    const quiet = Array.from({ length: 3 }, () => recordOf('quiet'));
    for (const record of quiet) queue.add(record, long);
    for (const record of quiet) expect(queue.take(record)).toBeDefined();
    expect(queue.take(loud[0] as RequestRecord)).toBeUndefined();
  });
  it('has its room again once it was taken, and is taken once', () => {
    const { queue, lines } = queueOf(2_500);
    for (let time = 0; time < 20; time++) {
      const record = recordOf('a');
      queue.add(record, long);
      expect(queue.take(record)).toBeDefined();
      expect(queue.take(record)).toBeUndefined();
    }
    expect(lines).toEqual([]);
  });
  it('is dropped where it alone is too long, and takes nothing from others', () => {
    const { queue } = queueOf(800);
    const [short, tooLong] = [recordOf('a'), recordOf('b')];
    queue.add(short, content('Hello'));
    queue.add(tooLong, long);
    expect(queue.take(tooLong)).toBeUndefined();
    expect(queue.take(short)).toBeDefined();
  });
});
