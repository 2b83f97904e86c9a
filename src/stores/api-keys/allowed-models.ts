import { refusal } from '../../base/refusal.ts';
import { compilePatterns } from '../../base/text/pattern.ts';
import type { AllowedModels } from '../../call/call.ts';

/** @returns undefined: all models */
export function allowedModelsOf(patterns: readonly string[] | null | undefined): AllowedModels | undefined {
  if (!patterns) return undefined;
  return { patterns: [...patterns], allows: compilePatterns(patterns) };
}

/**
 * Tells whether other patterns match everything that these patterns match. A star of the wider pattern takes in
 * whatever stands in its place, also a star. The result is false where only several patterns together are as wide as
 * one.
 */
export function isWithinPatterns(patterns: readonly string[] | null, wider: readonly string[] | null): boolean {
  if (wider === null) return true;
  return patterns?.every(compilePatterns(wider)) === true;
}

/**
 * Refuses an allow-list that reaches beyond another: a caller gives nobody more models than it has itself.
 * @param patterns  undefined: does not change
 * @throws GatewayError permission_denied (403)
 */
export function checkModelsWithin(
  patterns: readonly string[] | null | undefined,
  most: readonly string[] | null,
): void {
  if (patterns === undefined || isWithinPatterns(patterns, most)) return;
  const message = 'expected patterns that match no more models than those that this key or its maker is limited to';
  throw refusal('permission_denied', [{ path: 'allowed_models', message }]);
}
