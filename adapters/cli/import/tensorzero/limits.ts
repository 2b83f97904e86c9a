import type { Written } from '../../config-source.ts';
import { flagOf, isMapping, listOf, type Mapping, mappingOf, memberOf, numberOf } from '../mapping.ts';
import type { Report } from '../report.ts';

/** The option `rateLimits`, of the rules that have a counterpart. */
export function limitsOf(file: Mapping, report: Report): Written {
  const section = mappingOf(file, 'rate_limiting');
  if (flagOf(section, 'enabled') === false) {
    report.note('rate_limiting', 'is switched off');
    return undefined;
  }
  const found: Record<'key' | 'workspace', Record<string, number>> = { key: {}, workspace: {} };
  for (const [at, rule] of listOf(section, 'rules').entries())
    if (isMapping(rule)) addRule(rule, `rate_limiting.rules[${at}]`, found, report);
  const used = Object.entries(found).filter(([, limits]) => Object.keys(limits).length > 0);
  return used.length > 0 ? Object.fromEntries(used) : undefined;
}

const names: Readonly<Record<string, string>> = {
  model_inferences_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
};
const intervals: Readonly<Record<string, string>> = { day: 'daily', week: 'weekly', month: 'monthly' };

function addRule(
  rule: Mapping,
  path: string,
  found: Record<'key' | 'workspace', Record<string, number>>,
  report: Report,
): void {
  const holder = holderOf(listOf(rule, 'scope'));
  for (const name of Object.keys(rule)) {
    if (['priority', 'always', 'scope'].includes(name)) continue;
    const where = `${path}.${name}`;
    const limit = limitOf(rule, name);
    const option = Object.hasOwn(names, name) ? names[name] : undefined;
    const interval = intervals[/^cost_per_(day|week|month)$/.exec(name)?.[1] ?? ''];
    if (holder === null)
      report.problem(
        where,
        'limits nobody: its scope has no counterpart',
        'rateLimits limits keys and workspaces; keys have limits of their own.',
      );
    else if (option !== undefined && limit !== undefined && limit >= 1) {
      // Of several rules the lowest limit holds, as the others would let more through.
      found[holder][option] = Math.min(found[holder][option] ?? Number.POSITIVE_INFINITY, Math.floor(limit));
      if (isMapping(memberOf(rule, name))) report.warning(where, 'is its refill rate: a minute lets no more through');
    } else if (interval !== undefined && limit !== undefined && limit > 0)
      report.problem(
        where,
        'holds only once it is set',
        holder === 'workspace'
          ? `Run: npx model-gateway budgets set ${interval} ${limit} --config gateway.config.mjs`
          : `Make keys with it: npx model-gateway keys create NAME --limit ${limit} --reset ${interval}`,
      );
    else
      report.problem(
        where,
        'limits nobody: there are limits per minute, and budgets',
        'Set a limit of rateLimits, or a budget.',
      );
  }
}

/** @returns null: its scope is one of tags, or of one key */
function holderOf(scope: readonly unknown[]): 'key' | 'workspace' | null {
  if (scope.length === 0) return 'workspace';
  const [only] = scope;
  const isEachKey = scope.length === 1 && isMapping(only) && memberOf(only, 'api_key_public_id') === 'tensorzero::each';
  return isEachKey ? 'key' : null;
}

function limitOf(rule: Mapping, name: string): number | undefined {
  const value = memberOf(rule, name);
  return isMapping(value) ? numberOf(value, 'refill_rate') : numberOf(rule, name);
}
