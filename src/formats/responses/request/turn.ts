import { isObject } from '../../../base/values.ts';
import type { CallForm, NativeObject } from '../../../call/native.ts';
import type { AssistantMessage, ReasoningDetail, ToolCall } from '../../../schema/chat/chat.ts';
import type {
  AssistantItem,
  CustomCallItem,
  FunctionCallItem,
  InputItem,
  ReasoningItem,
  SearchCallItem,
  ShellCallItem,
} from '../../../schema/responses/responses.ts';
import { convertReasoning, type Places } from './reasoning.ts';
import type { ToolNames } from './tool-names.ts';

export type TurnItem =
  | AssistantItem
  | FunctionCallItem
  | CustomCallItem
  | ShellCallItem
  | SearchCallItem
  | ReasoningItem;

/** Texts, thoughts and calls of the model in a row: several items, and one chat message. */
export interface Turn {
  add(item: TurnItem): void;
  /** Keeps an item that no chat message holds. */
  keep(item: NativeObject): void;
  /** The items, as an upstream that speaks Responses gets them. */
  readonly items: readonly NativeObject[];
  /** Returns the message; null: nothing was said. */
  message(): AssistantMessage | null;
}

/** The gap between the texts of two messages, which would read as one word without it. */
const gap = '\n\n';

/** @param before  items that no chat message holds, and that came before */
export function assistantTurn(names: ToolNames, before: readonly NativeObject[]): Turn {
  const items: NativeObject[] = [...before];
  const said: string[] = [];
  const refused: string[] = [];
  const calls: ToolCall[] = [];
  const details: ReasoningDetail[] = [];
  const places: Places = { next: 0 };
  const annotations: object[] = [];
  let hasMessage = false;
  let hasText = false;

  function addMessage({ content }: AssistantItem): void {
    hasMessage = true;
    const parts = typeof content === 'string' ? [{ type: 'output_text' as const, text: content }] : (content ?? []);
    let text = '';
    for (const part of parts) {
      if (part.type === 'refusal') refused.push(part.refusal);
      else {
        text += part.text;
        for (const annotation of Array.isArray(part.annotations) ? part.annotations : []) {
          const read = fileOf(annotation);
          if (read !== null) annotations.push(read);
        }
      }
    }
    if (text !== '') said.push(text);
    // All texts of a chat message become one message item, which takes one place among the details.
    if (!hasText && (said.length > 0 || refused.length > 0)) {
      hasText = true;
      places.next++;
    }
  }

  function addCall(id: string, name: string, text: string): void {
    calls.push({ id, type: 'function', function: { name, arguments: text } });
    places.next++;
  }

  return {
    items,
    keep: (item) => items.push(item),
    add(item) {
      if (item.type === 'reasoning') {
        const converted = convertReasoning(item as ReasoningItem, places);
        for (const detail of converted.details) details.push(detail);
        if (converted.item !== null) items.push(converted.item);
        return;
      }
      items.push(item);
      switch (item.type) {
        case 'function_call':
        case 'custom_tool_call': {
          const called = item as FunctionCallItem | CustomCallItem;
          const text = called.type === 'function_call' ? called.arguments : inputText(called);
          addCall(called.call_id, names.of(formOf(called)), text);
          break;
        }
        case 'local_shell_call': {
          const { call_id, id, action } = item as ShellCallItem;
          const { type: _, ...settings } = action;
          const name = names.of({ kind: 'local_shell', name: 'local_shell' });
          addCall(call_id ?? id ?? '', name, JSON.stringify(settings));
          break;
        }
        case 'tool_search_call': {
          const { call_id, arguments: sought } = item as SearchCallItem;
          const name = names.of({ kind: 'tool_search', name: 'tool_search' });
          addCall(call_id ?? '', name, typeof sought === 'string' ? sought : JSON.stringify(sought ?? {}));
          break;
        }
        default:
          addMessage(item as AssistantItem);
      }
    },
    message() {
      if (!hasMessage && calls.length === 0 && details.length === 0) return null;
      const text = said.join(details.some(countsText) ? '' : gap);
      const message: AssistantMessage = {
        role: 'assistant',
        // No text is needed beside calls. Servers refuse a message that has neither.
        content: text !== '' || (calls.length === 0 && refused.length === 0) ? text : null,
      };
      if (refused.length > 0) message.refusal = refused.join(gap);
      if (details.length > 0) message.reasoning_details = details;
      if (annotations.length > 0) message.annotations = annotations;
      if (calls.length > 0) message.tool_calls = calls;
      return message;
    },
  };
}

/** true: a thought names the texts that came before it. They were one text of one response, and count without a gap. */
function countsText(detail: ReasoningDetail): boolean {
  return Array.isArray((detail as { text_lengths?: unknown }).text_lengths);
}

/** Returns the form of the tool that an item calls by a name of the client's; null: it calls none. */
export function calledIn(item: InputItem): CallForm | null {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
    ? formOf(item as FunctionCallItem | CustomCallItem)
    : null;
}

function formOf({ type, name, namespace }: FunctionCallItem | CustomCallItem): CallForm {
  const kind = type === 'function_call' ? 'function' : 'custom';
  return namespace ? { kind, name, namespace } : { kind, name };
}

function inputText({ input }: CustomCallItem): string {
  return JSON.stringify({ input });
}

/**
 * Returns the content that the gateway has read from a file, as an earlier response told it: it need not read the file
 * again.
 */
function fileOf(annotation: unknown): object | null {
  if (!isObject(annotation) || annotation.type !== 'file_citation' || !Array.isArray(annotation.content)) return null;
  const { file_id: hash, filename: name, content } = annotation;
  return { type: 'file', file: { hash, name, content } };
}
