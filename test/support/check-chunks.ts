import { expect } from 'vitest';
import { chatChunkSchema } from '../../src/schema/chat/chunk.ts';
import { payloadsOf } from './recordings.ts';
import { sharedAvailable, validateAgainstReference } from './reference.ts';

/** Chunks that were found valid; replays of one recording repeat them thousands of times. */
const known = new Set<string>();

/** Every chunk of a stream of ours is valid, by our schema and, where it is there, by the reference's. */
export function checkChunks(stream: string, model = 'acme/replayed'): void {
  const payloads = payloadsOf(stream).filter((payload) => payload !== '[DONE]');
  expect(payloads.length).toBeGreaterThan(0);
  const ids = new Set(payloads.map((payload) => /^\{"id":"(gen-[\w-]+)"/.exec(payload)?.[1]));
  expect(ids.size).toBe(1);
  for (const payload of payloads) {
    if (known.has(payload)) continue;
    const chunk = JSON.parse(payload);
    const problems = [
      ...(chatChunkSchema().safeParse(chunk).error?.issues ?? []),
      ...(sharedAvailable ? validateAgainstReference('ChatStreamChunk', chunk) : []),
      ...(chunk.model === model ? [] : ['another model']),
    ];
    expect(problems, JSON.stringify(chunk).slice(0, 500)).toEqual([]);
    known.add(payload);
  }
}
