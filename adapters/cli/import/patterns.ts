import { textGuardrail } from '../../../src/index.ts';
import type { Pattern } from './produced.ts';

/** Tells whether patterns make a guardrail: an expression of another gateway may have another syntax. */
export function isAccepted(id: string, patterns: readonly Pattern[]): boolean {
  try {
    textGuardrail({ id, patterns: patterns as never });
    return true;
  } catch {
    return false;
  }
}
