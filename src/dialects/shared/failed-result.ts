import type { ToolMessage } from '../../schema/chat/chat.ts';

/** A text that says by itself that it is about an error, such as `Error: …` and `<tool_use_error>…`. */
const saysSo = /^[\W_]{0,20}(?:[a-z]{1,20}_){0,3}error/i;

/**
 * Returns the result of a tool for a wire format with no field for a failure: where `is_error` says that the tool has
 * failed, its text begins with that word, so that the model does not take it for a success. Other messages are the same.
 */
export function withFailureInWords(message: ToolMessage): ToolMessage {
  if (!('is_error' in message)) return message;
  const { is_error: isError, ...rest } = message;
  if (isError !== true) return rest as ToolMessage;
  const { content } = message;
  if (typeof content === 'string') return { ...rest, content: inWords(content) } as ToolMessage;
  const [first, ...others] = content;
  const parts =
    first?.type === 'text'
      ? [{ ...first, text: inWords(first.text) }, ...others]
      : [{ type: 'text', text: 'Error' }, ...content];
  return { ...rest, content: parts } as ToolMessage;
}

function inWords(text: string): string {
  if (saysSo.test(text)) return text;
  return text === '' ? 'Error' : `Error: ${text}`;
}
