import { limitToNano } from '../base/money.ts';
import { compilePatterns as compilePattern } from '../base/pattern.ts';
import type { BudgetLimit } from '../call/call.ts';
import type { ImposedRouting } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { GuardrailSettings, StoredGuardrail } from '../schema/guardrail.ts';
import type { Guardrail } from './guardrail.ts';
import { compilePatterns, type TextPattern, WrongPattern } from './text/patterns.ts';
import { textGuardrail } from './text-guardrail.ts';

/** A guardrail of the store, as requests are subject to it. */
export interface ImposedGuardrail {
  readonly stored: StoredGuardrail;
  /** null: it looks at no text. */
  readonly guardrail: Guardrail | null;
  /** null: it leaves the routing as it is. */
  readonly routing: ImposedRouting | null;
  /** What each of its keys may spend; null: it does not say. */
  readonly budget: BudgetLimit | null;
}

/** @param stored  as it was checked when it was written */
export function imposedGuardrail(stored: StoredGuardrail): ImposedGuardrail {
  const { id, settings, ofWorkspace } = stored;
  const patterns = textPatternsOf(settings).map(({ pattern }) => pattern);
  const scope = ofWorkspace ? 'workspace' : 'api_key';
  return {
    stored,
    guardrail: patterns.length === 0 ? null : textGuardrail({ id, name: settings.name, scope, patterns }),
    routing: routingOf(settings),
    budget: budgetOf(stored),
  };
}

/** @throws TypeError  for a limit that was never checked */
function budgetOf({ id, settings }: StoredGuardrail): BudgetLimit | null {
  const { name, limit_usd: limit, reset_interval: interval } = settings;
  if (limit === null || interval === null) return null;
  const limitNanoUsd = limitToNano(limit);
  if (limitNanoUsd === null) throw new TypeError(`The limit of the guardrail ${id} is no amount`);
  return { interval, limitNanoUsd, guardrail: { id, name } };
}

interface Placed {
  pattern: TextPattern;
  /** Where it stands in a body. */
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

/** Compiles every expression. @returns what is wrong with the first that the engine refuses; null: nothing */
export async function faultOfPatterns(settings: GuardrailSettings): Promise<{ path: string; message: string } | null> {
  const placed = textPatternsOf(settings);
  try {
    await compilePatterns(placed.map(({ pattern }) => pattern));
    return null;
  } catch (error) {
    if (!(error instanceof WrongPattern)) throw error;
    return { path: placed[error.index]?.path ?? '', message: `expected an expression of RE2: ${error.message}` };
  }
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

/** What a caller is subject to. */
export interface Imposed {
  readonly guardrails: readonly Guardrail[];
  /** null: nothing limits the routing. */
  readonly routing: ImposedRouting | null;
  /** What the key of the caller may spend. */
  readonly budgets: readonly BudgetLimit[];
  /** true: only endpoints with zero data retention may serve. */
  readonly isZdr: boolean;
}

export const nothingImposed: Imposed = { guardrails: [], routing: null, budgets: [], isZdr: false };

/** Those of a workspace that act on a call: assigned to the workspace, or to its key. */
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
