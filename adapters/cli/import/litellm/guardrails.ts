import type { GuardrailAction } from '../../../../src/index.ts';
import { slugForm } from '../accounts.ts';
import { flagOf, isMapping, listOf, type Mapping, mappingOf, memberOf, textOf } from '../mapping.ts';
import { isAccepted } from '../patterns.ts';
import type { Pattern } from '../produced.ts';
import type { Report } from '../report.ts';

/** A guardrail of the new config. */
export interface ImportedGuardrail {
  id: string;
  patterns: Pattern[];
}

const ownAdvice = 'Write it with defineGuardrail: docs/guardrails.md.';

/** Imports the section `guardrails`: those that look for patterns. */
export function importGuardrails(file: Mapping, report: Report): ImportedGuardrail[] {
  const found: ImportedGuardrail[] = [];
  for (const [at, entry] of listOf(file, 'guardrails').entries()) {
    const path = `guardrails[${at}]`;
    if (!isMapping(entry)) continue;
    const params = mappingOf(entry, 'litellm_params');
    const patterns = patternsOf(`${path}.litellm_params`, params, report);
    if (patterns === null) continue;
    if (flagOf(params, 'default_on') !== true) {
      const advice =
        'Impose it on a workspace or on keys with POST /guardrails, or on all calls in the option guardrails.';
      report.problem(path, 'acts on no request: there it acts where a request or a key names it', advice);
      continue;
    }
    const id = slugForm(textOf(entry, 'guardrail_name') ?? '') ?? `guardrail-${at}`;
    if (isAccepted(id, patterns)) found.push({ id, patterns });
    else report.problem(path, 'has a pattern that cannot be looked for here', ownAdvice);
  }
  return found;
}

/** The side of a call on which a guardrail acts. */
function sideOf(params: Mapping): 'input' | 'output' | 'both' {
  const mode = memberOf(params, 'mode');
  const modes = (Array.isArray(mode) ? mode : [mode]).filter((one) => typeof one === 'string');
  const isInput = modes.some((one) => /pre_call|during_call|logging_only/.test(one));
  const isOutput = modes.some((one) => /post_call/.test(one));
  return isInput && isOutput ? 'both' : isOutput ? 'output' : isInput || modes.length > 0 ? 'input' : 'both';
}

/** @returns null: it is of a kind that has no counterpart, which the report says */
function patternsOf(path: string, params: Mapping, report: Report): Pattern[] | null {
  const kind = textOf(params, 'guardrail') ?? '';
  const on = sideOf(params);
  if (kind === 'presidio') return entitiesOf(path, params, on, report);
  if (kind === 'hide-secrets' || kind === 'hide_secrets') return [{ builtin: 'api-key', action: 'redact', on }];
  if (kind === 'litellm_content_filter') return contentFilterOf(path, params, on, report);
  const name = /^[a-z0-9_-]{1,40}$/i.test(kind) ? kind : 'a guardrail of your own';
  const advice = kind === 'openai_moderation' ? 'Use the moderation plugin: docs/plugins/moderation.md.' : ownAdvice;
  report.problem(path, `is ${name}, which looks at nothing here`, advice);
  return null;
}

/** Entities of Presidio, and the built-in patterns that find the same. */
const entities: Readonly<Record<string, string>> = {
  CREDIT_CARD: 'credit-card',
  EMAIL_ADDRESS: 'email',
  IBAN_CODE: 'iban',
  PHONE_NUMBER: 'phone',
  US_SSN: 'ssn',
  UK_NINO: 'national-id',
  ES_NIF: 'national-id',
  IT_FISCAL_CODE: 'national-id',
  PL_PESEL: 'national-id',
  IN_AADHAAR: 'national-id',
};
const usualEntities = ['CREDIT_CARD', 'EMAIL_ADDRESS', 'IBAN_CODE', 'PHONE_NUMBER', 'US_SSN'];

function entitiesOf(path: string, params: Mapping, on: string, report: Report): Pattern[] | null {
  const given = mappingOf(params, 'pii_entities_config');
  const asked =
    Object.keys(given).length > 0 ? Object.entries(given) : usualEntities.map((one) => [one, 'MASK'] as const);
  const patterns = new Map<string, Pattern>();
  const lost: string[] = [];
  for (const [entity, action] of asked) {
    const builtin = Object.hasOwn(entities, entity) ? entities[entity] : undefined;
    if (builtin === undefined) lost.push(entity);
    else patterns.set(builtin, { builtin, action: action === 'BLOCK' ? 'block' : 'redact', on });
  }
  if (Object.keys(given).length === 0) lost.push('names of persons', 'places', 'other entities');
  if (lost.length > 0) {
    const named = lost.map((one) => one.replace(/[^\w ]/g, '?').slice(0, 40)).join(', ');
    report.problem(path, `looks for no ${named}: patterns of this gateway do not find them`, ownAdvice);
  }
  return patterns.size > 0 ? [...patterns.values()] : null;
}

/** Prebuilt patterns of the content filter, and ours. */
const prebuilt: Readonly<Record<string, string>> = {
  us_ssn: 'ssn',
  email: 'email',
  phone: 'phone',
  us_phone: 'phone',
  credit_card: 'credit-card',
  visa: 'credit-card',
  mastercard: 'credit-card',
  amex: 'credit-card',
  iban: 'iban',
  aws_access_key: 'api-key',
  aws_secret_key: 'api-key',
  github_token: 'api-key',
  slack_token: 'api-key',
  generic_api_key: 'api-key',
};

function contentFilterOf(path: string, params: Mapping, on: string, report: Report): Pattern[] | null {
  const patterns = new Map<string, Pattern>();
  const actionOf = (entry: Mapping): GuardrailAction => (textOf(entry, 'action') === 'MASK' ? 'redact' : 'block');
  for (const [at, entry] of listOf(params, 'patterns').entries()) {
    if (!isMapping(entry)) continue;
    const place = `${path}.patterns[${at}]`;
    const name = textOf(entry, 'pattern_name');
    const builtin = name !== undefined && Object.hasOwn(prebuilt, name) ? prebuilt[name] : undefined;
    const regex = textOf(entry, 'pattern');
    if (regex !== undefined) {
      const own = slugForm(textOf(entry, 'name') ?? `pattern-${at}`) ?? `pattern-${at}`;
      patterns.set(`regex ${at}`, { regex, name: own, action: actionOf(entry), on });
    } else if (builtin !== undefined) patterns.set(builtin, { builtin, action: actionOf(entry), on });
    else report.problem(place, 'is a pattern that is not built in here', 'Write it as a regex: docs/guardrails.md.');
  }
  for (const [at, entry] of listOf(params, 'blocked_words').entries()) {
    const literal = isMapping(entry) ? textOf(entry, 'keyword') : undefined;
    if (!isMapping(entry) || literal === undefined) continue;
    patterns.set(`word ${at}`, { literal, name: `word-${at}`, action: actionOf(entry), on, ignoreCase: true });
  }
  for (const name of ['categories', 'blocked_words_file', 'competitor_intent_config'])
    if (memberOf(params, name) !== undefined) report.problem(`${path}.${name}`, 'looks for nothing here', ownAdvice);
  return patterns.size > 0 ? [...patterns.values()] : null;
}
