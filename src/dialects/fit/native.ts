import type { Loose } from '../../base/values.ts';
import type { CallForm, Native, NativeObject } from '../../call/native.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import type { Entry } from './entry.ts';
import type { Names } from './rename.ts';
import { nativeAs, renamed } from './tools.ts';

/**
 * Returns `native` for the request as it was fitted: items of messages that only have other ids or names get these. A
 * message that says something else has no items.
 */
export function fittedNative(native: Native, request: ChatRequest, entries: readonly Entry[], names: Names): Native {
  const { instructionsAt, toolChoice } = native;
  const at = instructionsAt === null ? -1 : entries.findIndex(({ from }) => from === instructionsAt);
  /** The objects that stand for those of the client: a tool and the item that brings it in are told apart by identity. */
  const fitted = new Map<NativeObject, NativeObject>();
  const asFitted = (holder: NativeObject): NativeObject => {
    const known = fitted.get(holder) ?? nativeAs(holder, names);
    fitted.set(holder, known);
    return known;
  };
  const items = entries.map(({ message, from, isWhole }) => {
    const given = from === null || !isWhole ? null : (native.items[from] ?? null);
    if (given === null) return null;
    const before = request.messages[from as number];
    const own = message === before ? given.map(asFitted) : itemsAs(given, before, message, names);
    own?.forEach((item, place) => void fitted.set(given[place] as NativeObject, item));
    return own;
  });
  return {
    ...native,
    items,
    instructionsAt: at === -1 ? null : at,
    tools: native.tools.map((tool) => (tool === null ? null : asFitted(tool))),
    callForms: formsAs(native.callForms, names),
    toolChoice:
      toolChoice === null || names.own.size === 0
        ? toolChoice
        : { chat: choiceAs(toolChoice.chat, names), own: choiceAs(toolChoice.own, names) },
  };
}

function choiceAs(choice: unknown, names: Names): unknown {
  return typeof choice === 'object' && choice !== null && !Array.isArray(choice)
    ? renamed(choice as Loose, names)
    : choice;
}

function formsAs(forms: Native['callForms'], names: Names): Native['callForms'] {
  if (names.own.size === 0) return forms;
  return new Map(
    [...forms].map(([name, { kind, name: own, namespace }]): [string, CallForm] => [
      names.of(name),
      { kind, name: names.of(own), ...(namespace === undefined ? {} : { namespace: names.of(namespace) }) },
    ]),
  );
}

/** null: the items are not those of the calls. */
function itemsAs(
  items: readonly NativeObject[],
  before: ChatMessage | undefined,
  message: ChatMessage,
  names: Names,
): readonly NativeObject[] | null {
  if (message.role === 'tool')
    return items.map((item) => {
      const own = nativeAs(item, names);
      return 'call_id' in item || 'output' in item ? { ...own, call_id: message.tool_call_id } : own;
    });
  if (message.role !== 'assistant' || before?.role !== 'assistant') return null;
  const calls = message.tool_calls ?? [];
  const given = before.tool_calls ?? [];
  if (message.content !== before.content) return null;
  let next = 0;
  const fitted = items.map((item): NativeObject => {
    const own = nativeAs(item, names);
    if (typeof item.type !== 'string' || !item.type.endsWith('_call') || !isCallOf(item, given[next])) return own;
    const { id, function: called } = calls[next] as (typeof calls)[number];
    const hasArguments = typeof item.arguments === 'string' && item.arguments === given[next]?.function.arguments;
    next++;
    return {
      ...own,
      call_id: id,
      ...(hasArguments ? { arguments: called.arguments } : {}),
    };
  });
  return next === calls.length ? fitted : null;
}

function isCallOf(item: NativeObject, call: { id: string } | undefined): boolean {
  return call !== undefined && (item.call_id === call.id || (item.call_id === undefined && item.id === call.id));
}
