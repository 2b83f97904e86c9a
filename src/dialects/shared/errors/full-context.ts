import type { UpstreamErrorOptions } from '../../../base/http/upstream-error.ts';

/** The codes of a full context, which count beside every other text. */
const codes =
  /^(?:context_length_exceeded|context_window_exceeded|model_context_window_exceeded|model_max_prompt_tokens_exceeded|exceed_context_size_error|prompt_too_long)$/;

/**
 * The words, in lower case, with which providers and the servers of open models report that a conversation does not fit
 * into the context of a model. No pattern repeats without a bound over any characters, so that each takes linear time.
 */
const words: readonly RegExp[] = [
  /context[_ ]?(?:length|window|size|limit)[_ ]?(?:has been |was |is )?(?:exceeded|exceeds|full|overflow|of only|is only)/,
  /exceed(?:s|ed|ing)?[_ ](?:the )?(?:max(?:imum)? )?context|context[_ ]overflow|context the overflows/,
  /(?:exceed(?:s|ed)?|longer than|greater than|larger than|fit (?:in|into|within)) (?:the |this |its |your )?(?:(?:model'?s?|available|maximum|max|configured|allowed) )*context\b/,
  /max(?:imum)? (?:context|prompt|model) ?(?:length|size|window)|max(?:imum)? (?:allowed )?input (?:length|tokens)|max_(?:context_length|model_len|seq_len)\b/,
  /(?:prompt|input|inputs|conversation|messages) (?:is |are |was )?too long|total length of (?:the )?messages/,
  /input (?:tokens?|token count|length)\b[^.]{0,60}\b(?:exceed|exceeds|exceeded|only supports|should be)\b/,
  /prompt (?:(?:tokens?|token count|length)(?: of \d+)? )?(?:exceeds?|exceeded)\b/,
  /exceeds? the maximum number of tokens|number of (?:input |prompt )?tokens (?:in the prompt )?(?:exceeds?|cannot exceed)/,
  /too many (?:input |prompt )?tokens|exceed(?:s|ed)? (?:the )?model'?s? token limit|tokens in request more than max/,
  /reduce the length of (?:(?:the|your|either) )?(?:messages?|prompt|inputs?|one)\b|reduce (?:your prompt|the input token count)/,
  /too large for (?:the )?model with|tokens to keep from the initial prompt|exceed the total tokens limit/,
  /`?inputs`? (?:tokens \+ `?max_new_tokens|must have less than)|total tokens of image and text exceed/,
  /estimated number of input and maximum output tokens/,
  /(?:输入|提示|上下文|prompt)[^。]{0,20}(?:过长|超长|超过|超出)/,
];

/** The words for other limits in tokens: a rate, a quota, the largest output. */
const ofSomethingElse =
  /tokens? per (?:min|minute|hour|day|second)|\btp[md]\b|rate[_ ]?limit|too many requests|please wait|quota|throttl|max tokens must be less|output token limit/;

/** The most characters of an error's words that are read, in UTF-16 units. */
const longest = 4_000;

/**
 * true: a provider reports that the conversation does not fit into the context of the model. Agents then shorten it and
 * go on; they cannot cure other limits that way.
 * @param status  the status of the response; null: the error came inside a success, and names none
 * @param code    the provider's own code
 * @param texts   the texts of the error
 */
export function saysContextIsFull(
  status: number | null,
  code: string | undefined,
  ...texts: readonly (string | undefined)[]
): boolean {
  const kind = code?.toLowerCase() ?? '';
  if (codes.test(kind)) return status !== 429;
  if (status !== null && status !== 400 && status !== 413 && status !== 422) return false;
  const said = `${kind} ${texts.join(' ')}`.slice(0, longest).toLowerCase();
  return !ofSomethingElse.test(said) && words.some((pattern) => pattern.test(said));
}

/** The fields of such an error to the caller, for every status it came with. */
export const contextIsFull = {
  reason: 'status',
  status: 400,
  fault: 'caller',
  errorType: 'context_length_exceeded',
} as const satisfies Partial<UpstreamErrorOptions>;
