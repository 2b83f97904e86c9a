/** The codes that say it, in lower case. */
const codes: readonly { readonly code: RegExp; readonly of: string }[] = [
  { code: /^engine_overloaded(?:_error)?$/, of: 'Moonshot' },
  { code: /^overloaded(?:_error)?$/, of: 'Anthropic, and servers that follow it' },
  { code: /^(?:server|model|service)_?(?:is_)?_?overload(?:ed)?(?:_error)?$/, of: 'OpenAI, BytePlus, StepFun' },
  { code: /^(?:slow_down|over_capacity|capacity_exceeded|no_capacity)$/, of: 'OpenAI, Groq, Cerebras' },
];

/** The words of providers for it, in lower case. */
const words: readonly { readonly said: RegExp; readonly of: string }[] = [
  {
    said: /(?:engine|model|server|service|system) is (?:currently |temporarily )?overloaded/,
    of: 'OpenAI, Google, DeepSeek',
  },
  { said: /(?:currently |is )?(?:over|at) capacity|no (?:available )?capacity/, of: 'Groq, Together, Chutes' },
];

/**
 * Tells whether a provider says that it is overloaded, though its status says something else.
 * @param status  the status of the response; null: the error came inside a success, and names none
 */
export function saysOverloaded(status: number | null, code: string | undefined, message: string): boolean {
  if (status !== null && status !== 429 && status !== 500) return false;
  if (codes.some((one) => one.code.test(code?.toLowerCase() ?? ''))) return true;
  const said = message.slice(0, 1_000).toLowerCase();
  return status !== 429 && words.some((one) => one.said.test(said));
}

/** The meaning of such an error, for every status. */
export const overloaded = { reason: 'status', status: 503 } as const;
