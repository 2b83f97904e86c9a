import { type Loose, without } from '../../../base/values.ts';
import type { OutputItem as NativeItem } from '../../../call/output-item.ts';
import { CustomCallItem, FunctionCallItem } from './call.ts';
import type { EventSink } from './events.ts';
import type { ItemIds } from './ids.ts';
import { MessageItem } from './message.ts';
import { ReasoningItem } from './reasoning.ts';
import { OpaqueItem } from './whole-item.ts';

export type NativeOutput = MessageItem | ReasoningItem | FunctionCallItem | CustomCallItem | OpaqueItem;

/** Fields that the deltas fill, or that are ours. */
const filled = {
  message: ['id', 'type', 'role', 'content', 'status'],
  reasoning: ['id', 'type', 'summary', 'content', 'encrypted_content', 'status'],
  call: ['id', 'type', 'status', 'call_id', 'name', 'namespace', 'arguments', 'input'],
} as const;

/** Tells whether an item calls a tool of the caller's: nothing of it is read as a text. */
export function isCallItem({ item: { type }, isOpaque }: NativeItem): boolean {
  return isOpaque !== true && (type === 'function_call' || type === 'custom_tool_call');
}

/** Takes over the fields of the item that no delta holds, as the upstream has them now. */
export function describe(output: NativeOutput, { item, isDone }: NativeItem): void {
  if (isDone === true && item.status === 'incomplete') output.outcome = 'incomplete';
  if (output instanceof OpaqueItem) output.update(item);
  // Clients know no phase that is null.
  else if (output instanceof MessageItem)
    output.extra = without(item.phase === null ? [...filled.message, 'phase'] : filled.message, item);
  else if (output instanceof ReasoningItem) output.extra = without(filled.reasoning, item);
  else output.extra = without(filled.call, item);
}

/**
 * Makes the item that an upstream which speaks Responses has announced. It keeps its id and its fields.
 * @param callId  the id of the chat call, where the item has none
 */
export function nativeOutput(
  sink: EventSink,
  ids: ItemIds,
  index: number,
  native: NativeItem,
  callId: unknown,
): NativeOutput {
  const output = outputOf(sink, ids, index, native, callId);
  describe(output, native);
  return output;
}

function outputOf(
  sink: EventSink,
  ids: ItemIds,
  index: number,
  { item, isOpaque }: NativeItem,
  callId: unknown,
): NativeOutput {
  const { type, id } = item;
  if (isOpaque !== true) {
    if (type === 'message') return new MessageItem(sink, index, ids.item('msg', index, id));
    if (type === 'reasoning') return new ReasoningItem(sink, index, ids.item('rs', index, id), true);
    if (type === 'function_call')
      return new FunctionCallItem(sink, index, ids.item('fc', index, id), calledBy(ids, index, item, callId));
    if (type === 'custom_tool_call')
      return new CustomCallItem(sink, index, ids.item('ctc', index, id), calledBy(ids, index, item, callId), false);
  }
  return new OpaqueItem(sink, index, ids.item('item', index, id), item);
}

function calledBy(ids: ItemIds, index: number, item: Readonly<Loose>, callId: unknown) {
  const { call_id: own, name, namespace } = item;
  return {
    callId: ids.call(own || callId, index),
    name: typeof name === 'string' ? name : '',
    namespace: typeof namespace === 'string' ? namespace : undefined,
  };
}
