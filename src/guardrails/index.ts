import type { Guardrail } from './guardrail.ts';

export { faultOfPatterns, type Imposed, imposedGuardrail, imposedOn, nothingImposed } from './stored.ts';
export { textGuardrail } from './text-guardrail.ts';

/** Every guardrail that is built in. */
export const guardrails: readonly Guardrail[] = [];
