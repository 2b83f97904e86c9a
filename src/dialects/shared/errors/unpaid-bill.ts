import type { UpstreamErrorOptions } from '../../../base/http/upstream-error.ts';

/** The codes of an unpaid bill, for every status, in lower case. */
const codes: readonly { readonly code: RegExp; readonly of: string }[] = [
  { code: /^insufficient_?(?:quota|balance|credits?|funds)(?:_error)?$/, of: 'OpenAI, Azure, Alibaba, DeepSeek' },
  { code: /^exceeded_current_quota(?:_error)?$/, of: 'Moonshot' },
  { code: /^billing_(?:error|hard_limit_reached|not_active|disabled)$/, of: 'OpenAI, Anthropic, Google' },
  {
    code: /^(?:arrearage|access_terminated_billing|account_overdue(?:_?error)?|accountoverdueerror)$/,
    of: 'Alibaba, BytePlus',
  },
  { code: /^(?:1113|1008)$/, of: 'Z.AI, MiniMax: the balance is used up' },
  { code: /^(?:1304|1308|1309|1310)$/, of: 'Z.AI: the plan is used up, or has ended' },
  { code: /^not_enough_balance$/, of: 'Novita' },
  { code: /^(?:pre|post)paidbilloverdue$|^allocationquota\.freetieronly$|^commoditynotpurchased$/, of: 'Alibaba' },
  {
    code: /^(?:payment_required|credit_limit_exceeded|spend_limit_(?:exceeded|reached))$/,
    of: 'Together, Groq and others',
  },
];

/**
 * The words, in lower case, with which providers report that the account has no money or no quota left. No pattern
 * repeats without a bound over any characters, so that each takes linear time.
 */
const words: readonly { readonly said: RegExp; readonly of: string }[] = [
  { said: /exceeded your current quota/, of: 'OpenAI, Google, Moonshot' },
  {
    said: /check your (?:plan and )?billing|billing (?:hard )?limit|billing details|enable billing/,
    of: 'OpenAI, Google',
  },
  {
    said: /credit balance|purchase (?:more )?credits|(?:specified|workspace|organization) (?:api )?usage limits/,
    of: 'Anthropic',
  },
  {
    said: /insufficient (?:account )?(?:balance|credits?|funds|quota)|balance (?:is )?(?:insufficient|not enough)|not[_ ]enough[_ ]balance/,
    of: 'DeepSeek, Z.AI, MiniMax',
  },
  {
    said: /(?:out of|run out of|no|not enough|more) credits\b|credits? (?:are |is |have been |has been )?(?:exhausted|depleted|used up)/,
    of: 'OpenRouter, Hugging Face, xAI',
  },
  {
    said: /all available credits|(?:monthly |credit |hard |project )?(?:spend|spending|credit) (?:limit|cap)\b/,
    of: 'xAI, Groq, Together, Google',
  },
  {
    said: /(?:account|payment|invoice|bill)s? (?:is |are )?(?:in arrears|overdue|past due|unpaid)|in good standing/,
    of: 'Alibaba, BytePlus',
  },
  { said: /included credits|free tier of the model has been exhausted/, of: 'Hugging Face, Alibaba' },
  { said: /余额不足|欠费|无可用资源包|额度(?:已)?(?:用完|用尽|不足)/, of: 'Z.AI, Moonshot, Baidu' },
];

/** The words for a rate, which time alone cures, though some name the plan or the bill beside it. */
const ofRate = /per (?:min|minute|second|hour)\b|perminute|persecond|perhour|\b[rt]pm\b/;

/** The most characters of an error's words that are read, in UTF-16 units. */
const longest = 4_000;

/** With these a provider may mean the bill; null: the error came inside a success, and names no status. */
const statuses: ReadonlySet<number | null> = new Set([400, 403, 412, 429, null]);

/**
 * true: a provider means the bill or the quota of the account that called it, though its status says something else.
 * Such an error counts as one with status 402: waiting cures nothing, another credential or endpoint may.
 * @param codeOfError  the provider's own code
 * @param texts        the texts of the error
 */
export function saysBillIsUnpaid(
  status: number | null,
  codeOfError: string | undefined,
  ...texts: readonly (string | undefined)[]
): boolean {
  if (!statuses.has(status)) return false;
  const kind = codeOfError?.toLowerCase() ?? '';
  if (codes.some(({ code }) => code.test(kind))) return true;
  const said = `${kind} ${texts.join(' ')}`.slice(0, longest).toLowerCase();
  return words.some((one) => one.said.test(said)) && !ofRate.test(said);
}

/** The fields of such an error, for every status it came with. */
export const unpaidBill = {
  reason: 'status',
  status: 402,
  fault: 'operator',
  errorType: 'provider_unavailable',
} as const satisfies Partial<UpstreamErrorOptions>;
