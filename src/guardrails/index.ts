import type { Guardrail } from './guardrail.ts';

/** Every guardrail that is built in. */
export const guardrails: readonly Guardrail[] = [];
