import { refusal } from '../base/refusal.ts';

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
