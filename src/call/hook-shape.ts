import type { Issue } from '../base/refusal.ts';
import { field, type HostShape } from '../schema/host-object.ts';

const hookNames = ['before', 'prepare', 'wrap', 'steps', 'restore'] as const;

/** The ways in which `before` runs. */
export const hookModes = ['before', 'parallel'] as const;
export type HookMode = (typeof hookModes)[number];

/** The hooks of plugins and guardrails. */
export function hookShape(): HostShape {
  const fn = field.fn().optional();
  return { before: fn, prepare: fn, wrap: fn, steps: fn, restore: fn, foresee: fn };
}

/** Finds that an object has a mode and no hook that the mode is for. */
export function idleMode({ mode, before }: { mode?: HookMode | undefined; before?: unknown }): Issue[] {
  if (mode !== 'parallel' || before !== undefined) return [];
  return [{ path: 'mode', message: 'expected a hook before, which alone can run in parallel' }];
}

/** Finds that an object has no hook: it would never act. */
export function missingHook(given: object): Issue[] {
  if (hookNames.some((name) => (given as Record<string, unknown>)[name] !== undefined)) return [];
  return [{ path: '', message: `expected a hook: ${hookNames.join(', ')}` }];
}
