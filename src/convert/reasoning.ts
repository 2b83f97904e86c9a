import type { ChatRequest } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';

/** Whether the caller does not want to see the reasoning: `reasoning.exclude`, or the older `include_reasoning`. */
export function hidesReasoning(request: ChatRequest): boolean {
  return request.reasoning?.exclude === true || request.include_reasoning === false;
}

/** Removes the reasoning from a chunk; null: the chunk held nothing else. */
export function chunkWithoutReasoning(chunk: ChatChunk): ChatChunk | null {
  const choices = chunk.choices.map((choice) => {
    const { reasoning: _reasoning, reasoning_details: _details, ...delta } = choice.delta;
    return { ...choice, delta };
  });
  const hasContent = choices.some(({ delta, finish_reason }, at) => {
    const before = Object.keys(chunk.choices[at]?.delta ?? {}).length;
    return (
      finish_reason !== null ||
      before === Object.keys(delta).length ||
      Object.keys(delta).some((key) => key !== 'role' && delta[key])
    );
  });
  return hasContent ? { ...chunk, choices } : null;
}
