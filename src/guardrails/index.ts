import type { Guardrail } from './guardrail.ts';

export {
  checkPatterns,
  type Imposed,
  type ImposedLimits,
  imposedGuardrail,
  imposedOn,
  nothingImposed,
} from './stored.ts';
export { loadScreening, textGuardrail } from './text-guardrail.ts';

/** Every guardrail that is built in. */
export const guardrails: readonly Guardrail[] = [];
