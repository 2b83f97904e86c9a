import type { ChatRequest } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';

/** The caller lets the model think but does not want to read it: `reasoning.exclude`, or the older `include_reasoning`. */
export function hidesReasoning(request: ChatRequest): boolean {
  return request.reasoning?.exclude === true || request.include_reasoning === false;
}

/** A chunk without the model's reasoning; null when nothing else was in it. */
export function chunkWithoutReasoning(chunk: ChatChunk): ChatChunk | null {
  const choices = chunk.choices.map((choice) => {
    const { reasoning: _reasoning, reasoning_details: _details, ...delta } = choice.delta;
    return { ...choice, delta };
  });
  const hasMore = choices.some(({ delta, finish_reason }, at) => {
    const before = Object.keys(chunk.choices[at]?.delta ?? {}).length;
    return (
      finish_reason !== null ||
      before === Object.keys(delta).length ||
      Object.keys(delta).some((key) => key !== 'role' && delta[key])
    );
  });
  return hasMore ? { ...chunk, choices } : null;
}
