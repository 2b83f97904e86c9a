import type { ChatRequest, ChatResult } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';

/** The caller lets the model think but does not want to read it: `reasoning.exclude`, or the older `include_reasoning`. */
export function hidesReasoning(request: ChatRequest): boolean {
  return request.reasoning?.exclude === true || request.include_reasoning === false;
}

/** The answer without what the model thought. */
export function withoutReasoning(result: ChatResult): ChatResult {
  return {
    ...result,
    choices: result.choices.map((choice) => {
      const { reasoning: _reasoning, reasoning_details: _details, ...message } = choice.message;
      return { ...choice, message };
    }),
  };
}

/** The same for a piece of a stream; null when nothing else was in it. */
export function chunkWithoutReasoning(chunk: ChatChunk): ChatChunk | null {
  const choices = chunk.choices.map((choice) => {
    const { reasoning: _reasoning, reasoning_details: _details, ...delta } = choice.delta;
    return { ...choice, delta };
  });
  const says = choices.some(({ delta, finish_reason }, at) => {
    const before = Object.keys(chunk.choices[at]?.delta ?? {}).length;
    return (
      finish_reason !== null ||
      before === Object.keys(delta).length ||
      Object.keys(delta).some((key) => key !== 'role' && delta[key])
    );
  });
  return says ? { ...chunk, choices } : null;
}
