/** The codes that say it, in lower case. */
const codes: readonly { readonly code: RegExp; readonly of: string }[] = [
  { code: /^engine_overloaded(?:_error)?$/, of: 'Moonshot' },
  { code: /^overloaded(?:_error)?$/, of: 'Anthropic, and servers that follow it' },
  { code: /^(?:server|model|service)_?(?:is_)?_?overload(?:ed)?(?:_error)?$/, of: 'OpenAI, BytePlus, StepFun' },
  { code: /^(?:slow_down|over_capacity|capacity_exceeded|no_capacity)$/, of: 'OpenAI, Groq, Cerebras' },
];

/** How providers say it in words, in lower case. */
const words: readonly { readonly said: RegExp; readonly of: string }[] = [
  {
    said: /(?:engine|model|server|service|system) is (?:currently |temporarily )?overloaded/,
    of: 'OpenAI, Google, DeepSeek',
  },
  { said: /(?:currently |is )?(?:over|at) capacity|no (?:available )?capacity/, of: 'Groq, Together, Chutes' },
];

/**
 * Whether a provider says that it is overloaded, where its status says something else.
 * @param status  of the response; null: the error came inside a success, and names none
 */
export function saysOverloaded(status: number | null, code: string | undefined, message: string): boolean {
  if (status !== null && status !== 429 && status !== 500) return false;
  if (codes.some((one) => one.code.test(code?.toLowerCase() ?? ''))) return true;
  const said = message.slice(0, 1_000).toLowerCase();
  return status !== 429 && words.some((one) => one.said.test(said));
}

/** What such an error is, whichever status it came with. */
export const overloaded = { reason: 'status', status: 503 } as const;
