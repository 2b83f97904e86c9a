/** A setting in `generationConfig` with which a response costs no more than its tokens. */
export interface GoogleSetting {
  /** The fields of a chat request that say the same, by which a provider's `dropParams` may name it. `[]`: there is none. */
  readonly chat: readonly string[];
  /** true: it is a number, and its chat field has the same. */
  readonly isNumber?: true;
}

const number = (name: string): GoogleSetting => ({ chat: [name], isNumber: true });
const own = (...chat: string[]): GoogleSetting => ({ chat });

/** The settings that are known, by Google's names. Any other may cost anything. */
export const googleSettings: ReadonlyMap<string, GoogleSetting> = new Map([
  ['temperature', number('temperature')],
  ['topP', number('top_p')],
  ['topK', number('top_k')],
  ['candidateCount', number('n')],
  ['seed', number('seed')],
  ['presencePenalty', number('presence_penalty')],
  ['frequencyPenalty', number('frequency_penalty')],
  ['maxOutputTokens', own('max_tokens', 'max_completion_tokens')],
  ['stopSequences', own('stop')],
  ['responseLogprobs', own('logprobs')],
  ['logprobs', own('top_logprobs')],
  ['responseMimeType', own('response_format')],
  ['responseSchema', own('response_format')],
  ['responseJsonSchema', own('response_format')],
  ['responseModalities', own('modalities')],
  ['imageConfig', own('image_config')],
  ['thinkingConfig', own('reasoning', 'reasoning_effort')],
  ['speechConfig', own()],
  ['mediaResolution', own()],
  ['audioTimestamp', own()],
]);
