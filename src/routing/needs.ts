import type { Endpoint, Model } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';

/** The features that an endpoint must support to serve a request well, as far as the request shows them. */
export interface Needs {
  /** Request fields that change the response when an endpoint ignores them. */
  parameters: readonly string[];
  /** Kinds of content besides text. */
  modalities: readonly string[];
  /** Kinds of output that are asked for, besides text. */
  outputs: readonly string[];
  /** A rough lower estimate of the prompt's tokens, to find endpoints that are certainly too small. */
  promptTokens: number;
  /** The largest output the request allows; null: the request sets no limit. */
  maxTokens: number | null;
  /** true: a prompt that is too long is made shorter. A context that holds half of it is large enough. */
  isShortened: boolean;
}

const modalityOf: Readonly<Record<string, string>> = {
  image_url: 'image',
  file: 'file',
  input_audio: 'audio',
  video_url: 'video',
  input_video: 'video',
};

const noOutputs: readonly string[] = [];

/**
 * The characters of a token. The estimate is rather too small than too large: English has about four characters per
 * token, other scripts have fewer.
 */
const charsPerToken = 4;

export function needsOf(request: ChatRequest, isShortened = false): Needs {
  const parameters: string[] = [];
  if (request.tools && request.tools.length > 0) parameters.push('tools');
  const format = request.response_format?.type;
  if (format !== undefined && format !== 'text') parameters.push('response_format');
  const { verbosity } = request as { verbosity?: unknown };
  if (verbosity !== undefined && verbosity !== null) parameters.push('verbosity');
  const modalities: string[] = [];
  let chars = 0;
  for (const { content } of request.messages) {
    if (typeof content === 'string') chars += content.length;
    else {
      for (const part of content ?? []) {
        const modality = modalityOf[part.type];
        if (modality !== undefined && !modalities.includes(modality)) modalities.push(modality);
        const { text } = part as { text?: unknown };
        if (typeof text === 'string') chars += text.length;
      }
    }
  }
  return {
    parameters,
    modalities,
    outputs: request.modalities?.filter((kind) => kind !== 'text') ?? noOutputs,
    promptTokens: Math.floor(chars / charsPerToken),
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? null,
    isShortened,
  };
}

/** true: an endpoint is known not to support a need of the request. Unknown properties count as supported. */
export function lacks(needs: Needs, { inputModalities, outputModalities }: Model, endpoint: Endpoint): boolean {
  const { supportedParameters, unsupportedParameters, contextLength, maxPromptTokens, maxCompletionTokens } = endpoint;
  const { parameters, modalities, outputs } = needs;
  if (unsupportedParameters !== undefined)
    for (const parameter of parameters) if (unsupportedParameters.includes(parameter)) return true;
  if (supportedParameters !== null && !supportsAll(supportedParameters, parameters)) return true;
  if (inputModalities) for (const modality of modalities) if (!inputModalities.includes(modality)) return true;
  if (outputModalities) for (const output of outputs) if (!outputModalities.includes(output)) return true;
  const promptTokens = leastPrompt(needs);
  if (contextLength !== null && promptTokens > contextLength) return true;
  if (maxPromptTokens !== undefined && promptTokens > maxPromptTokens) return true;
  return maxCompletionTokens !== null && needs.maxTokens !== null && needs.maxTokens > maxCompletionTokens;
}

/** Returns the tokens that an endpoint must have room for. */
export function leastPrompt({ promptTokens, isShortened }: Needs): number {
  return isShortened ? promptTokens / 2 : promptTokens;
}

/** Other names for the same parameter in lists of supported parameters. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['max_tokens', ['max_completion_tokens']],
  ['max_completion_tokens', ['max_tokens']],
  ['reasoning_effort', ['reasoning']],
  ['reasoning', ['reasoning_effort', 'include_reasoning']],
  ['response_format', ['structured_outputs']],
]);

/** true: an endpoint supports all the named request fields. */
export function supportsAll(supportedParameters: readonly string[], names: readonly string[]): boolean {
  for (const name of names) if (!supports(supportedParameters, name)) return false;
  return true;
}

function supports(supportedParameters: readonly string[], name: string): boolean {
  return (
    supportedParameters.includes(name) ||
    (otherNames.get(name)?.some((other) => supportedParameters.includes(other)) ?? false)
  );
}
