import { slugForm } from '../accounts.ts';
import { flagOf, isMapping, listOf, type Mapping, mappingOf, memberOf, textOf, textsOf } from '../mapping.ts';
import { isAccepted } from '../patterns.ts';
import type { Pattern } from '../produced.ts';
import type { Report } from '../report.ts';

const places = [
  ['input_guardrails', 'input'],
  ['before_request_hooks', 'input'],
  ['output_guardrails', 'output'],
  ['after_request_hooks', 'output'],
] as const;

const ownAdvice = 'Write it with textGuardrail or defineGuardrail: docs/guardrails.md.';

/** Imports the checks of a config that look for patterns. */
export function importGuardrails(config: Mapping, path: string, report: Report): { id: string; patterns: Pattern[] }[] {
  const found: { id: string; patterns: Pattern[] }[] = [];
  for (const [name, on] of places)
    for (const [at, entry] of listOf(config, name).entries()) {
      const where = `${path}${name}[${at}]`;
      if (!isMapping(entry)) {
        report.problem(where, 'is a guardrail in the account of the other gateway', ownAdvice);
        continue;
      }
      const patterns = checksOf(entry).flatMap(({ check, place }) =>
        patternsOf(check, `${where}${place}`, on, entry, report),
      );
      const id = slugForm(textOf(entry, 'id') ?? `${on}-${at + 1}`) ?? `${on}-${at + 1}`;
      if (patterns.length === 0) continue;
      if (isAccepted(id, patterns)) found.push({ id: unused(id, found), patterns });
      else report.problem(where, 'has a pattern that cannot be looked for here', ownAdvice);
    }
  return found;
}

function unused(id: string, found: readonly { id: string }[]): string {
  return found.some((one) => one.id === id) ? `${id}-${found.length + 1}` : id;
}

/** The checks of a hook: a list, or in the short form members such as `default.contains`. */
function checksOf(entry: Mapping): { check: { id: string; parameters: Mapping }; place: string }[] {
  const list = listOf(entry, 'checks').flatMap((check, at) =>
    isMapping(check)
      ? [
          {
            check: { id: textOf(check, 'id') ?? '', parameters: mappingOf(check, 'parameters') },
            place: `.checks[${at}]`,
          },
        ]
      : [],
  );
  if (list.length > 0) return list;
  return Object.entries(entry).flatMap(([id, parameters]) =>
    id.includes('.') && isMapping(parameters) ? [{ check: { id, parameters }, place: `.${id}` }] : [],
  );
}

function patternsOf(
  { id, parameters }: { id: string; parameters: Mapping },
  where: string,
  on: string,
  entry: Mapping,
  report: Report,
): Pattern[] {
  const action = flagOf(entry, 'deny') === true ? 'block' : 'flag';
  const name = id.replace(/^default\./, '');
  if (name === 'contains' && textOf(parameters, 'operator') === 'none')
    return textsOf(parameters, 'words').map((literal, at) => ({ literal, name: `word-${at + 1}`, action, on }));
  if (name === 'regexMatch' && memberOf(parameters, 'not') === true) {
    const regex = textOf(parameters, 'rule');
    if (regex !== undefined) return [{ regex, name: 'expression', action, on }];
  }
  if (name === 'regexReplace') {
    const regex = textOf(parameters, 'rule');
    if (regex !== undefined) return [{ regex, name: 'expression', action: 'redact', on }];
  }
  if (name === 'modelWhitelist' || name === 'modelRules') {
    report.problem(where, 'keeps nobody to models', 'Give keys their `models`: docs/workspaces.md#models-of-a-key.');
    return [];
  }
  if (/pii/i.test(name)) {
    const redacts = memberOf(parameters, 'redact') === true;
    report.warning(
      where,
      'looks for e-mail addresses, telephone, card, account and id numbers, and for no names',
      ownAdvice,
    );
    return piiPatterns.map((builtin) => ({ builtin, action: redacts ? 'redact' : action, on }));
  }
  const shown = /^[\w.-]{1,60}$/.test(id) ? `is ${id}, which` : 'is a check that';
  report.problem(where, `${shown} looks at nothing here`, ownAdvice);
  return [];
}

const piiPatterns = ['email', 'phone', 'credit-card', 'iban', 'ssn', 'national-id'] as const;
