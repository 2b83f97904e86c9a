import type { Issue } from '../base/refusal.ts';
import { field, type HostShape } from '../schema/host-object.ts';

const hookNames = ['before', 'prepare', 'wrap', 'steps'] as const;

/** The hooks of plugins and guardrails. */
export function hookShape(): HostShape {
  const fn = field.fn().optional();
  return { before: fn, prepare: fn, wrap: fn, steps: fn, foresee: fn };
}

/** Finds that an object has no hook: it would never act. */
export function missingHook(given: object): Issue[] {
  if (hookNames.some((name) => (given as Record<string, unknown>)[name] !== undefined)) return [];
  return [{ path: '', message: `expected a hook: ${hookNames.join(', ')}` }];
}
