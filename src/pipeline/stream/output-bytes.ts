import { utf8Length } from '../../base/bytes.ts';

/** Output of a model: a delta of a stream, or a complete message. */
interface Output {
  content?: unknown;
  reasoning?: unknown;
  refusal?: unknown;
  tool_calls?: readonly { function?: { name?: unknown; arguments?: unknown } | null | undefined }[] | null | undefined;
}

/**
 * Returns the bytes of text in an output, as passthrough counts them. A stream and JSON of the same response have the
 * same number.
 */
export function outputBytes({ content, reasoning, refusal, tool_calls }: Output): number {
  let bytes = bytesOf(content) + bytesOf(reasoning) + bytesOf(refusal);
  for (const { function: called } of tool_calls ?? []) bytes += bytesOf(called?.name) + bytesOf(called?.arguments);
  return bytes;
}

function bytesOf(text: unknown): number {
  return typeof text === 'string' ? utf8Length(text) : 0;
}
