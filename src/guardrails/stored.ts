import { limitToNano } from '../base/money.ts';
import type { Issue } from '../base/refusal.ts';
import { compilePatterns as compilePattern } from '../base/text/pattern.ts';
import type { BudgetLimit } from '../call/call.ts';
import type { ImposedRouting } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { GuardrailSettings, StoredGuardrail } from '../schema/tenants/guardrail.ts';
import type { Guardrail } from './guardrail.ts';
import { patternFaults, type TextPattern, WrongPattern } from './text/pattern.ts';
import { textGuardrail } from './text-guardrail.ts';

/** A guardrail of the store in the form that acts on requests. */
export interface ImposedGuardrail {
  readonly stored: StoredGuardrail;
  /** null: it checks no text. */
  readonly guardrail: Guardrail | null;
  /** null: it does not change the routing. */
  readonly routing: ImposedRouting | null;
  /** The amount that each of its keys may spend; null: no limit. */
  readonly budget: BudgetLimit | null;
}

/** The limits for the work of the store's guardrails. */
export interface ImposedLimits {
  /** The most steps of one expression. */
  readonly maxSteps: number;
  readonly maxWorkMs: number;
}

/** @param stored  its patterns were checked when it was written */
export function imposedGuardrail(stored: StoredGuardrail, limits: ImposedLimits): ImposedGuardrail {
  const { id, settings, ofWorkspace } = stored;
  const patterns = textPatternsOf(settings).map(({ pattern }) => pattern);
  const scope = ofWorkspace ? 'workspace' : 'api_key';
  return {
    stored,
    guardrail: patterns.length === 0 ? null : textGuardrail({ id, name: settings.name, scope, patterns, ...limits }),
    routing: routingOf(settings),
    budget: budgetOf(stored),
  };
}

/** @throws TypeError  for an unchecked limit */
function budgetOf({ id, settings }: StoredGuardrail): BudgetLimit | null {
  const { name, limit_usd: limit, reset_interval: interval } = settings;
  if (limit === null || interval === null) return null;
  const limitNanoUsd = limitToNano(limit);
  if (limitNanoUsd === null) throw new TypeError(`The limit of the guardrail ${id} is no amount`);
  return { interval, limitNanoUsd, guardrail: { id, name } };
}

interface Placed {
  pattern: TextPattern;
  /** The path of the pattern in a body. */
  path: string;
}

function textPatternsOf({ content_filters: filters, content_filter_builtins: builtins }: GuardrailSettings): Placed[] {
  return [
    ...(builtins ?? []).map(
      ({ slug, action, applies_to: on }, at): Placed => ({
        pattern: { builtin: slug, action, on },
        path: `content_filter_builtins[${at}]`,
      }),
    ),
    ...(filters ?? []).map(
      (
        { pattern, type, label: name, action, applies_to: on, ignore_case: ignoreCase, max_length: maxLength },
        at,
      ): Placed => ({
        pattern: {
          name,
          action,
          on,
          ignoreCase,
          ...(type === 'regex' ? { regex: pattern, maxLength } : { literal: pattern }),
        },
        path: `content_filters[${at}].pattern`,
      }),
    ),
  ];
}

/** The result of a check of patterns: the most steps of all expressions, or the fault of one. */
export type Checked = { readonly steps: number } | { readonly fault: Issue };

/** Compiles every expression. @param limits  of one expression, and of all of them */
export async function checkPatterns(
  settings: GuardrailSettings,
  limits: { readonly expressionSteps: number; readonly guardrailSteps: number },
): Promise<Checked> {
  const placed = textPatternsOf(settings);
  if (placed.length === 0) return { steps: 0 };
  const patterns = placed.map(({ pattern }) => pattern);
  // Checks the same rules as at a request: otherwise a guardrail could be stored that no request could use.
  const [shown] = patternFaults(patterns, 'patterns');
  if (shown !== undefined) {
    const at = /^patterns\[(\d+)\]/.exec(shown.path)?.[1];
    return { fault: { path: placed[Number(at)]?.path ?? 'content_filters', message: shown.message } };
  }
  const { compilePatterns } = await import('./text/patterns.ts');
  try {
    const { steps } = await compilePatterns(patterns, limits.expressionSteps);
    if (steps <= limits.guardrailSteps) return { steps };
    const message = `expected expressions that take at most ${limits.guardrailSteps} steps together; they may take ${steps} (instructions times characters): expected fewer or smaller expressions, or a smaller max_length`;
    return { fault: { path: 'content_filters', message } };
  } catch (error) {
    if (!(error instanceof WrongPattern)) throw error;
    const { index, message, isTooLarge } = error;
    const path = placed[index]?.path ?? '';
    return { fault: { path, message: isTooLarge ? message : `expected an expression of RE2: ${message}` } };
  }
}

/**
 * Counts the steps that the expressions of settings may take. An expression that is refused now counts as none: it
 * blocks requests without work.
 */
export async function stepsOfPatterns(settings: GuardrailSettings): Promise<number> {
  const anySteps = { expressionSteps: Number.MAX_SAFE_INTEGER, guardrailSteps: Number.MAX_SAFE_INTEGER };
  const checked = await checkPatterns(settings, anySteps);
  return 'fault' in checked ? 0 : checked.steps;
}

function routingOf(settings: GuardrailSettings): ImposedRouting | null {
  const { allowed_models: allowed, ignored_models: ignored, enforce_zdr: isZdr } = settings;
  const { allowed_providers: only, ignored_providers: never } = settings;
  if (!allowed && !ignored && !only && !never && isZdr !== true) return null;
  const allows = allowed ? compilePattern(allowed) : null;
  const forbids = ignored ? compilePattern(ignored) : null;
  const onlySlugs = only ? lowered(only) : null;
  const neverSlugs = never ? lowered(never) : null;
  return {
    mayUseModel: allows || forbids ? (slug) => allows?.(slug) !== false && forbids?.(slug) !== true : null,
    refuses: (endpoint) =>
      (onlySlugs !== null && !isAmong(onlySlugs, endpoint)) ||
      (neverSlugs !== null && isAmong(neverSlugs, endpoint)) ||
      (isZdr === true && endpoint.dataPolicy.zeroRetention !== true),
  };
}

function lowered(slugs: readonly string[]): ReadonlySet<string> {
  return new Set(slugs.map((slug) => slug.toLowerCase()));
}

/** A base slug stands for every endpoint of the provider. */
function isAmong(slugs: ReadonlySet<string>, { tag, providerSlug }: Endpoint): boolean {
  return slugs.has(tag) || slugs.has(providerSlug);
}

/** The guardrails, limits and rules that act on a caller. */
export interface Imposed {
  readonly guardrails: readonly Guardrail[];
  /** null: no guardrail limits the routing. */
  readonly routing: ImposedRouting | null;
  /** The budgets for the key of the caller. */
  readonly budgets: readonly BudgetLimit[];
  /** true: only endpoints with zero data retention may serve. */
  readonly isZdr: boolean;
}

export const nothingImposed: Imposed = { guardrails: [], routing: null, budgets: [], isZdr: false };

/** The guardrails of a workspace that act on a call: those that are assigned to the workspace, or to its key. */
export function imposedOn(all: readonly ImposedGuardrail[], apiKeyHash: string | null): Imposed {
  const acting = all.filter(
    ({ stored }) => stored.ofWorkspace || (apiKeyHash !== null && stored.keyHashes.includes(apiKeyHash)),
  );
  if (acting.length === 0) return nothingImposed;
  const rules = acting.flatMap(({ routing }) => routing ?? []);
  const models = rules.flatMap(({ mayUseModel }) => mayUseModel ?? []);
  return {
    guardrails: acting.flatMap(({ guardrail }) => guardrail ?? []),
    budgets: acting.flatMap(({ budget }) => budget ?? []),
    isZdr: acting.some(({ stored }) => stored.settings.enforce_zdr === true),
    routing:
      rules.length === 0
        ? null
        : {
            mayUseModel: models.length === 0 ? null : (slug) => models.every((mayUse) => mayUse(slug)),
            refuses: (endpoint) => rules.some((rule) => rule.refuses(endpoint)),
          },
  };
}
