import { isObject, type Loose } from '../../../base/values.ts';
import type { CallForm, Native } from '../../../call/native.ts';
import type { ChatMessage } from '../../../schema/chat/chat.ts';

/** Gives calls of chat functions, and their results, the form that the provider knows the tools in. */
export interface NativeCalls {
  own(item: Loose): Loose;
}

/** @param messages  all messages: a result is read by its call */
export function nativeCalls(messages: readonly ChatMessage[], { callForms }: Native): NativeCalls {
  const kinds = new Map<unknown, CallForm['kind']>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const { id, function: called } of message.tool_calls ?? []) {
      const form = callForms.get(called.name);
      if (form !== undefined) kinds.set(id, form.kind);
    }
  }
  return {
    own(item) {
      if (item.type === 'function_call') {
        const form = callForms.get(item.name as string);
        return form === undefined ? item : asForm(item, form);
      }
      if (item.type !== 'function_call_output') return item;
      const kind = kinds.get(item.call_id);
      if (kind === 'custom') return { ...item, type: 'custom_tool_call_output' };
      const { call_id: id, output } = item;
      const isText = typeof output === 'string';
      return kind === 'local_shell' && isText ? { type: 'local_shell_call_output', id, call_id: id, output } : item;
    },
  };
}

function asForm(item: Loose, { kind, name, namespace }: CallForm): Loose {
  const { call_id: id } = item;
  const group = namespace === undefined ? {} : { namespace };
  const read = readArguments(item.arguments);
  switch (kind) {
    case 'function':
      return { ...item, name, ...group };
    case 'custom':
      return { type: 'custom_tool_call', call_id: id, name, ...group, input: inputOf(read, item.arguments) };
    case 'local_shell':
      return { type: 'local_shell_call', id, call_id: id, status: 'completed', action: { ...read, type: 'exec' } };
    case 'tool_search':
      return { type: 'tool_search_call', call_id: id, execution: 'client', status: 'completed', arguments: read ?? {} };
  }
}

function inputOf(read: Loose | null, text: unknown): unknown {
  return typeof read?.input === 'string' ? read.input : text;
}

/** @returns null: the model wrote no object */
function readArguments(text: unknown): Loose | null {
  try {
    const read: unknown = JSON.parse(String(text));
    return isObject(read) ? read : null;
  } catch {
    return null;
  }
}
