import { type Clock, wait } from '../../src/base/clock.ts';

/** The answer to one call of a token endpoint. Default: a new token that lives for an hour. */
export interface TokenAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Absent: a token. */
  body?: unknown;
  /** null: the response has no `expires_in`. */
  expiresIn?: number | string | null;
  /** The time until the answer. */
  afterMs?: number;
  /** `refuse`: no connection; `hang`: no answer, ever. */
  instead?: 'refuse' | 'hang';
}

/** A token endpoint inside the process. Its tokens are `token-1-…`, `token-2-…`, and so on. */
export interface TokenEndpoint {
  fetch: typeof fetch;
  /** Answers of the next calls. */
  answer(...answers: readonly TokenAnswer[]): void;
  /** Every call so far. */
  calls: { url: string; headers: Headers; form: URLSearchParams; redirect: string | undefined; isAborted: boolean }[];
}

export const tokenNumber = (number: number) => `token-${number}-0123456789`;

export function tokenEndpoint(clock: Clock): TokenEndpoint {
  const queue: TokenAnswer[] = [];
  const calls: TokenEndpoint['calls'] = [];
  let tokens = 0;
  return {
    calls,
    answer: (...answers) => void queue.push(...answers),
    async fetch(input, init) {
      const signal = init?.signal ?? new AbortController().signal;
      const call = {
        url: String(input),
        headers: new Headers(init?.headers),
        form: new URLSearchParams(String(init?.body)),
        redirect: init?.redirect,
        isAborted: false,
      };
      calls.push(call);
      let hasAnswered = false;
      signal.addEventListener('abort', () => {
        if (!hasAnswered) call.isAborted = true;
      });
      const answer = queue.shift() ?? {};
      if (answer.afterMs !== undefined) await wait(clock, answer.afterMs, signal);
      if (answer.instead === 'refuse') throw new TypeError(`fetch failed ${call.headers.get('authorization')}`);
      if (answer.instead === 'hang') await new Promise(() => undefined);
      const { status = 200, headers = {}, expiresIn = 3600 } = answer;
      const token = {
        access_token: tokenNumber(tokens + 1),
        token_type: 'Bearer',
        ...(expiresIn === null ? {} : { expires_in: expiresIn }),
      };
      const body = answer.body ?? token;
      if (body === token) tokens++;
      hasAnswered = true;
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
    },
  };
}
