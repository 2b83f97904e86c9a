import { expect } from 'vitest';
import { chatChunkSchema } from '../../src/schema/chunk.ts';
import { payloadsOf } from './recordings.ts';
import { sharedAvailable, validateAgainstReference } from './reference.ts';

/** Every chunk of a stream of ours is valid, by our schema and, where it is there, by the reference's. */
export function checkChunks(stream: string, model = 'acme/replayed'): void {
  const chunks = payloadsOf(stream)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload));
  expect(chunks.length).toBeGreaterThan(0);
  const ids = new Set(chunks.map(({ id }) => id));
  expect([...ids]).toEqual([expect.stringMatching(/^gen-/)]);
  for (const chunk of chunks) {
    const problems = [
      ...(chatChunkSchema.safeParse(chunk).error?.issues ?? []),
      ...(sharedAvailable ? validateAgainstReference('ChatStreamChunk', chunk) : []),
      ...(chunk.model === model ? [] : ['another model']),
    ];
    expect(problems, JSON.stringify(chunk).slice(0, 500)).toEqual([]);
  }
}
