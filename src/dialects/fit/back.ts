import { isObject, type Loose } from '../../base/values.ts';
import { outputDeltasOf, outputItemOf, withOutputDeltas, withOutputItem } from '../../call/output-item.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { DecodedResult, StreamDecoder, StreamPart } from '../dialect.ts';

type OwnNames = ReadonlyMap<string, string>;

/** A complete response, with the caller's own names of tools. */
export function resultWithOwnNames(decoded: DecodedResult, names: OwnNames | undefined): DecodedResult {
  if (names === undefined) return decoded;
  for (const { message } of decoded.result.choices) renameMessage(message, names);
  return decoded;
}

/** Makes a decoder whose chunks have the caller's own names of tools. */
export function withOwnNames(decoder: StreamDecoder, names: OwnNames | undefined): StreamDecoder {
  if (names === undefined) return decoder;
  const withNames = (parts: StreamPart[]) => {
    for (const part of parts)
      if (part.kind === 'chunk') for (const { delta } of part.chunk.choices) renameDelta(delta, names);
    return parts;
  };
  return {
    decode: (data, event) => withNames(decoder.decode(data, event)),
    ...(decoder.end ? { end: () => withNames(decoder.end?.() ?? []) } : {}),
  };
}

function renameMessage(message: ChatResult['choices'][number]['message'], names: OwnNames): void {
  const deltas = outputDeltasOf(message);
  renameCalls(message.tool_calls, names);
  if (deltas === null) return;
  for (const { delta } of deltas) renameDelta(delta, names);
  // The texts of the message are others now.
  withOutputDeltas(message, deltas);
}

function renameDelta(delta: ChunkDelta, names: OwnNames): void {
  renameCalls(delta.tool_calls, names);
  const told = outputItemOf(delta);
  if (told === null) return;
  const name = names.get(told.item.name as string);
  const namespace = names.get(told.item.namespace as string);
  if (name === undefined && namespace === undefined) return;
  const own = { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) };
  withOutputItem(delta, { ...told, item: { ...told.item, ...own } });
}

function renameCalls(calls: readonly object[] | null | undefined, names: OwnNames): void {
  for (const call of calls ?? []) {
    const called = (call as Loose).function;
    if (!isObject(called) || typeof called.name !== 'string') continue;
    called.name = names.get(called.name) ?? called.name;
  }
}
