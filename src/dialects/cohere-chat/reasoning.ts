import { isObject } from '../../base/values.ts';
import type { AssistantMessage, ReasoningDetail } from '../../schema/chat/chat.ts';

/**
 * The ids of reasoning details, which tell their origin. Their `format` cannot: clients know a closed list of formats,
 * which has none of Cohere.
 */
const ids = { thinking: 'cohere-thinking', plan: 'cohere-tool-plan' } as const;

export type ThoughtKind = keyof typeof ids;

/** Makes the detail of a thought as clients get it, to be sent back. */
export function thoughtDetail(kind: ThoughtKind, text: string, index: number): ReasoningDetail {
  return { type: 'reasoning.text', text, id: ids[kind], format: 'unknown', index };
}

/** The thoughts of an earlier response, as Cohere wrote them. */
export interface Thoughts {
  /** The thoughts, one for each block. */
  thinking: string[];
  /** The plan; null: there was none. */
  plan: string | null;
}

/**
 * Finds Cohere's own thoughts in a message. Clients keep the details of a stream as they came: each may hold a few
 * letters, and those of one block have one index.
 * @returns  null: the message has none, or some are of another provider
 */
export function ownThoughts({ reasoning_details: details }: AssistantMessage): Thoughts | null {
  if (!Array.isArray(details) || details.length === 0) return null;
  const blocks = new Map<unknown, string>();
  let plan: string | null = null;
  for (const detail of details) {
    if (!isObject(detail) || detail.type !== 'reasoning.text' || typeof detail.text !== 'string') return null;
    if (detail.id === ids.plan) plan = (plan ?? '') + detail.text;
    else if (detail.id === ids.thinking) blocks.set(detail.index, (blocks.get(detail.index) ?? '') + detail.text);
    else return null;
  }
  return { thinking: [...blocks.values()], plan };
}
