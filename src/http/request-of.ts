import { refusal } from '../base/refusal.ts';
import type { Leaving } from './watch.ts';

/**
 * Makes the request that the arguments of `fetch` describe.
 * @throws GatewayError invalid_request (400) where they describe none: `fetch` itself would throw a TypeError
 */
export function requestOf(input: Request | URL | string, init: RequestInit | undefined): Request {
  if (input instanceof Request && init === undefined) return input;
  try {
    return new Request(input, init);
  } catch (error) {
    const isInput = !(input instanceof Request) && !(input instanceof URL) && !URL.canParse(String(input));
    const issue = isInput
      ? { path: 'input', message: 'expected a Request, or a complete URL such as http://gateway/v1/models' }
      : { path: 'init', message: 'expected what a Request can be made of' };
    throw refusal('invalid_request', [issue], error);
  }
}

/**
 * Finds what tells that the caller of `fetch` leaves: its own signal, or the `Request` it gave, not the one made of both.
 * An open stream keeps it, and with a `Request` its body.
 */
export function leavingOf(input: Request | URL | string, init: RequestInit | undefined): Leaving | null {
  const signal = init?.signal;
  if (signal) return { signal };
  return signal === undefined && input instanceof Request ? input : null;
}
