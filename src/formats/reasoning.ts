import type { Loose } from '../base/values.ts';
import type { ChatRequest, ReasoningDetail } from '../schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../schema/chat/chunk.ts';

/** true: the caller does not want to see the reasoning (`reasoning.exclude`, or the older `include_reasoning`). */
export function hidesReasoning(request: ChatRequest): boolean {
  return request.reasoning?.exclude === true || request.include_reasoning === false;
}

/** Takes the reasoning out of the chunks of one response. */
export interface ReasoningFilter {
  /** Returns the chunk without reasoning; null: it held nothing else. */
  without(chunk: ChatChunk): ChatChunk | null;
}

/**
 * Makes a filter of readable reasoning. The parts that stay are readable to nobody: encrypted ones, and signatures of a
 * thought that the provider does not show. A later turn may need them. A signature of a thought that was taken out
 * proves nothing any more, and is taken out with it.
 */
export function reasoningFilter(): ReasoningFilter {
  /** The details whose readable text was taken out, as `choice:index`. */
  const readable = new Set<string>();

  function keeps(choice: number, detail: ReasoningDetail): boolean {
    if (detail.type === 'reasoning.encrypted') return true;
    const key = `${choice}:${detail.index ?? ''}`;
    if (detail.type === 'reasoning.text' && !detail.text && detail.signature) return !readable.has(key);
    readable.add(key);
    return false;
  }

  function withoutReasoning(choice: number, whole: ChunkDelta): ChunkDelta {
    const { reasoning: _reasoning, reasoning_details: details, ...delta } = whole;
    const kept = details?.filter((detail) => keeps(choice, detail)) ?? [];
    return kept.length === 0 ? delta : { ...delta, reasoning_details: kept };
  }

  return {
    without(chunk) {
      const choices = chunk.choices.map((choice) => ({
        ...choice,
        delta: withoutReasoning(choice.index, choice.delta),
      }));
      const hasContent = choices.some(({ delta, finish_reason }, at) => {
        const before = Object.keys(chunk.choices[at]?.delta ?? {}).length;
        return (
          finish_reason !== null ||
          before === Object.keys(delta).length ||
          Object.keys(delta).some((key) => key !== 'role' && delta[key])
        );
      });
      return hasContent ? { ...chunk, choices } : null;
    },
  };
}

/**
 * Joins the details of thoughts that came in pieces: those of one detail follow each other, and its signature is the last.
 * @returns other objects; those that were given are not changed
 */
export function joinedDetails(details: readonly ReasoningDetail[]): ReasoningDetail[] {
  const joined: ReasoningDetail[] = [];
  for (const detail of details) {
    const last = joined.at(-1) as Loose | undefined;
    if (last === undefined || !goesOn(last, detail)) joined.push({ ...detail });
    else
      for (const [name, value] of Object.entries(detail)) {
        if (value == null) continue;
        const isText = name === 'text' || name === 'summary' || name === 'data';
        last[name] = isText && typeof last[name] === 'string' ? `${last[name]}${value}` : value;
      }
  }
  return joined;
}

/** true: the detail is one more piece of the last one. */
function goesOn(last: Loose, detail: ReasoningDetail): boolean {
  const isSame = (name: 'index' | 'format' | 'id') => {
    const [before, after] = [last[name] ?? null, detail[name] ?? null];
    return before === after || (name !== 'index' && (before === null || after === null));
  };
  // Of two encrypted texts, only an index tells that they are one.
  const isNamed = detail.type !== 'reasoning.encrypted' || detail.index != null;
  return last.type === detail.type && isNamed && !last.signature && isSame('index') && isSame('format') && isSame('id');
}
