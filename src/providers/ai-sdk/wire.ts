import { toBase64 } from '../../base/base64.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { failureOf } from './failure.ts';

/**
 * Writes a part of a stream as JSON.
 * @returns null: the dialect does not read this part
 * @throws the error in the part, if it is not an error of a provider
 */
export function partText(part: unknown): string | null {
  if (!isObject(part) || part.type === 'raw' || part.type === 'tool-result') return null;
  if (part.type !== 'error') return textOf(withText(part));
  const failure = failureOf(part.error);
  if (failure === null) throw part.error;
  const { status, message, code } = failure;
  return textOf({ type: 'error', error: { message, status, code } });
}

/** Writes a complete result as JSON, without the AI SDK's debugging data: the bodies of request and response. */
export function resultText(result: object): string {
  const { content, finishReason, usage, warnings, structuredOutputText } = result as Loose;
  const parts = Array.isArray(content) ? content.map((part) => (isObject(part) ? withText(part) : part)) : content;
  return textOf({ content: parts, finishReason, usage, warnings, structuredOutputText });
}

/** Writes the bytes of a file as base64. */
function withText(part: Loose): Loose {
  const { data } = part;
  if (part.type !== 'file' || !isObject(data) || !(data.data instanceof Uint8Array)) return part;
  return { ...part, data: { ...data, data: toBase64(data.data) } };
}

function textOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new UpstreamError('The model gave something that cannot be written as JSON.', {
      reason: 'bad_response',
      status: 502,
      cause,
    });
  }
}
