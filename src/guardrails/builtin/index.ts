import { lazily } from '../../base/lazily.ts';
import type { builtinSlugs } from '../../schema/tenants/guardrail.ts';
import { candidateMatcher } from '../matching/candidate.ts';
import type { Matcher } from '../matching/matcher.ts';
import { windowedMatcher } from '../matching/windowed.ts';
import { apiKey } from './api-keys.ts';
import { email, phone } from './contact.ts';
import { card, iban } from './money.ts';
import { nationalId, usSsn } from './national-ids.ts';
import { phraseChars, promptInjection } from './prompt-injection.ts';

/** Every pattern that is built in, by its name. */
export const builtinPatterns = {
  email: lazily(() => candidateMatcher(email)),
  phone: lazily(() => candidateMatcher(phone)),
  'credit-card': lazily(() => candidateMatcher(card)),
  iban: lazily(() => candidateMatcher(iban)),
  ssn: lazily(() => candidateMatcher(usSsn)),
  'national-id': lazily(() => candidateMatcher(nationalId)),
  'api-key': lazily(() => candidateMatcher(apiKey)),
  'prompt-injection': lazily(() => windowedMatcher(promptInjection, phraseChars)),
} as const satisfies Record<(typeof builtinSlugs)[number], () => Matcher>;
/** The name of a pattern that is built in, such as `email`. */
export type BuiltinPattern = keyof typeof builtinPatterns;
