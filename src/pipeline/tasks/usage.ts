import type { Usage } from '../../schema/chat/chat.ts';
import type { InputUsage } from '../../schema/task-usage.ts';

/** Returns the usage of a request without output, as its client gets it. */
export function inputUsageOf(usage: Usage): InputUsage {
  const { completion_tokens: _, ...rest } = usage;
  return rest as InputUsage;
}
