import type { Loose } from '../../base/values.ts';
import type { CallForm, Native, NativeObject } from '../../call/native.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import type { Entry } from './entry.ts';
import type { Names } from './rename.ts';
import { isNamed, renamed, withWholeSchema } from './tools.ts';

/**
 * Returns `native` for the request as it was fitted: items of messages that only have other ids or names get these. A
 * message that says something else has no items.
 */
export function fittedNative(native: Native, request: ChatRequest, entries: readonly Entry[], names: Names): Native {
  const { instructionsAt, toolChoice } = native;
  const at = instructionsAt === null ? -1 : entries.findIndex(({ from }) => from === instructionsAt);
  return {
    ...native,
    items: entries.map(({ message, from, isWhole }) => {
      const items = from === null || !isWhole ? null : (native.items[from] ?? null);
      const before = from === null ? undefined : request.messages[from];
      const isSame = items === null || (message === before && !items.some((item) => isRenamed(item, names)));
      return isSame ? items : itemsAs(items, before, message, names);
    }),
    instructionsAt: at === -1 ? null : at,
    tools: native.tools.map((tool) => (tool === null ? null : toolAs(withWholeSchema(tool), names))),
    callForms: formsAs(native.callForms, names),
    toolChoice:
      toolChoice === null || names.own.size === 0
        ? toolChoice
        : { chat: choiceAs(toolChoice.chat, names), own: choiceAs(toolChoice.own, names) },
  };
}

function isRenamed(item: NativeObject, names: Names): boolean {
  return isNamed(item) && names.of(item.name as string) !== item.name;
}

function choiceAs(choice: unknown, names: Names): unknown {
  return typeof choice === 'object' && choice !== null && !Array.isArray(choice)
    ? renamed(choice as Loose, names)
    : choice;
}

/** Tools in a namespace are known by both names together. */
function toolAs(tool: NativeObject, names: Names): NativeObject {
  return isNamed(tool) ? { ...tool, name: names.of(tool.name as string) } : tool;
}

function formsAs(forms: Native['callForms'], names: Names): Native['callForms'] {
  if (names.own.size === 0) return forms;
  return new Map(
    [...forms].map(([name, form]): [string, CallForm] => [
      names.of(name),
      form.namespace === undefined ? { ...form, name: names.of(form.name) } : form,
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
    return items.map((item) =>
      'call_id' in item || 'output' in item ? { ...item, call_id: message.tool_call_id } : item,
    );
  if (message.role !== 'assistant' || before?.role !== 'assistant') return null;
  const calls = message.tool_calls ?? [];
  const given = before.tool_calls ?? [];
  if (message.content !== before.content) return null;
  let next = 0;
  const fitted = items.map((item): NativeObject => {
    if (typeof item.type !== 'string' || !item.type.endsWith('_call') || !isCallOf(item, given[next])) return item;
    const { id, function: called } = calls[next] as (typeof calls)[number];
    const hasArguments = typeof item.arguments === 'string' && item.arguments === given[next]?.function.arguments;
    next++;
    return {
      ...toolAs(item, names),
      call_id: id,
      ...(hasArguments ? { arguments: called.arguments } : {}),
    };
  });
  return next === calls.length ? fitted : null;
}

function isCallOf(item: NativeObject, call: { id: string } | undefined): boolean {
  return call !== undefined && (item.call_id === call.id || (item.call_id === undefined && item.id === call.id));
}
