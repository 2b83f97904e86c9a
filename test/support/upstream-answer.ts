/** A step of an answer's body. */
export type Piece =
  /** Sent as one piece, cut exactly here. */
  | string
  | Uint8Array
  /** Time passes, on the manual clock; in-process upstreams only. */
  | { waitMs: number }
  /** What comes next waits for this. */
  | { until: Promise<unknown> }
  /** The connection breaks. */
  | { breaks: true }
  /** Nothing more comes, and the connection stays open. */
  | { hangs: true };

/** One answer of a scripted upstream. */
export interface ScriptedAnswer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a string as it is, a list piece by piece. Default: none. */
  body?: object | string | readonly Piece[];
  /** How long the response headers take, on the manual clock; in-process upstreams only. */
  afterMs?: number;
  /** Instead of an answer: the connection is refused, or nothing ever comes. */
  instead?: 'refuse' | 'hang';
}

/** The pieces of an answer's body, and its headers with a fitting content type. */
export function partsOf(answer: ScriptedAnswer): { headers: Record<string, string>; pieces: readonly Piece[] } {
  const { body, headers } = answer;
  if (Array.isArray(body))
    return { headers: { 'content-type': 'text/event-stream', ...headers }, pieces: body as Piece[] };
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  return { headers: { 'content-type': 'application/json', ...headers }, pieces: text === '' ? [] : [text] };
}

/** A chat completion as OpenAI writes one. */
export function completion(fields: object = {}, message: object = {}, choice: object = {}): object {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'upstream-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello there', refusal: null, ...message },
        logprobs: null,
        finish_reason: 'stop',
        ...choice,
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    system_fingerprint: 'fp_upstream',
    ...fields,
  };
}

/** A chunk as OpenAI writes one. */
export function chunk(delta: object, finishReason: string | null = null, fields: object = {}): object {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'upstream-model',
    system_fingerprint: 'fp_upstream',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...fields,
  };
}

export const upstreamUsage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

/** The closing usage chunk as OpenAI writes it. */
export function usageChunk(usage: object = upstreamUsage): object {
  return { ...chunk({}), choices: [], usage };
}

/** Frames: one per object, a string as the payload it is. */
export function sse(...events: readonly (object | string)[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
}

/** A whole stream that says the texts, a frame each: role, texts, finish_reason, usage, sentinel. */
export function textStream(...texts: readonly string[]): string[] {
  return [
    chunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    usageChunk(),
    '[DONE]',
  ].map((event) => sse(event));
}

/** An error body as OpenAI writes one. */
export function errorBody(message: string, code: string | null = null, type = 'invalid_request_error'): object {
  return { error: { message, type, param: null, code } };
}

/** The bytes of a text cut into pieces of `size`, also within a character. */
export function recut(text: string | readonly string[], size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(typeof text === 'string' ? text : text.join(''));
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
