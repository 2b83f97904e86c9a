import type { ChatRequest, ToolCall } from '../../schema/chat/chat.ts';
import type { StopCondition } from '../../schema/chat/request.ts';

/** The most steps of one response. */
export const mostSteps = 30;

/** The facts of the loop until now. */
export interface Progress {
  /** The number of responses of the model. */
  steps: number;
  /** The tokens of all of them. */
  tokens: number;
  /** The cost of all of them, integer nano-USD; null: no price is known. */
  nanoUsd: number | null;
  /** The finish reason of the last one. */
  reason: string | null;
  /** The calls of the last one. */
  calls: readonly ToolCall[];
}

/** Returns the condition that ends the loop, by its type; null: none does. `steps`: the limit of the gateway. */
export function stoppedBy(when: ChatRequest['stop_server_tools_when'], progress: Progress): string | null {
  const conditions = when === undefined ? [] : Array.isArray(when) ? when : [when];
  const met = conditions.find((condition) => isMet(condition, progress));
  if (met !== undefined) return met.type;
  return progress.steps >= mostSteps ? 'steps' : null;
}

function isMet(condition: StopCondition, { steps, tokens, nanoUsd, reason, calls }: Progress): boolean {
  switch (condition.type) {
    case 'step_count_is':
      return steps >= condition.step_count;
    case 'has_tool_call': {
      const wanted = condition.tool_name.replace(/^[^:]*:/, '');
      return calls.some(({ function: { name } }) => name === wanted);
    }
    case 'max_tokens_used':
      return tokens >= condition.max_tokens;
    case 'max_cost':
      return nanoUsd !== null && nanoUsd >= condition.max_cost_in_dollars * 1e9;
    case 'finish_reason_is':
      return reason === condition.reason;
  }
}
