import { isObject, type Loose } from '../../base/values.ts';
import { type ChatQuirks, type ReasoningField, reasoningFields } from './quirks.ts';

/**
 * Moves the earlier reasoning of an assistant message into the field that the provider takes, from each of the three
 * that the caller may use.
 * @param message  changed; its reasoning fields stand in it as the caller sent them
 * @param learntField  the field that counts where no quirk names one
 * @returns the fields whose content does not reach the provider, or not all of it
 */
export function moveReasoning(
  message: Loose,
  { reasoningField, reasoningFormat }: Pick<ChatQuirks, 'reasoningField' | 'reasoningFormat'>,
  learntField?: string | null,
): readonly ReasoningField[] {
  const target = reasoningField === undefined ? (learntField ?? null) : reasoningField;
  const given: Loose = {};
  for (const field of reasoningFields) {
    if (message[field] !== undefined && message[field] !== null) given[field] = message[field];
    delete message[field];
  }
  const value = target === null ? undefined : reasoningAs(target, given, reasoningFormat);
  if (target === null || value === undefined) return reasoningFields.filter((field) => field in given);
  if (target === 'content') message.content = [...thinkingParts(value as string), ...partsOf(message.content)];
  else message[target] = value;
  const isWhole = value === given.reasoning_details || !isOpaque(given.reasoning_details);
  return isWhole ? [] : ['reasoning_details'];
}

/** @see https://docs.mistral.ai/capabilities/reasoning */
function thinkingParts(text: string): readonly Loose[] {
  return text === '' ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text }] }];
}

function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

function reasoningAs(target: string, given: Loose, format: string | undefined): unknown {
  if (target !== 'reasoning_details') return textOf(given);
  const { reasoning_details: details } = given;
  if (Array.isArray(details) && details.length > 0 && isOwn(details, format)) return details;
  const text = textOf(given);
  return text === undefined ? undefined : [{ type: 'reasoning.text', text, index: 0 }];
}

/** true: the provider made these details. Plain text without a format may be its own. */
function isOwn(details: readonly unknown[], format: string | undefined): boolean {
  if (format === undefined) return true;
  return details.every(
    (detail) => isObject(detail) && (detail.format === format || (!isSet(detail.format) && !isOpaque([detail]))),
  );
}

/** true: details hold a part that no text can hold, a signature or an encrypted part. */
function isOpaque(details: unknown): boolean {
  if (!Array.isArray(details)) return false;
  return details.some(
    (detail) => isObject(detail) && (detail.type === 'reasoning.encrypted' || typeof detail.signature === 'string'),
  );
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/**
 * Returns the text. An empty one counts: some providers insist on the field. undefined: there is no text, only
 * encrypted parts.
 */
function textOf({ reasoning_content: content, reasoning, reasoning_details: details }: Loose): string | undefined {
  if (typeof content === 'string') return content;
  if (typeof reasoning === 'string') return reasoning;
  if (!Array.isArray(details)) return undefined;
  let text: string | undefined;
  // Clients keep the details of a stream as they came: each may hold a few letters.
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const added =
      detail.type === 'reasoning.text' ? detail.text : detail.type === 'reasoning.summary' && detail.summary;
    if (typeof added === 'string') text = (text ?? '') + added;
  }
  return text;
}
