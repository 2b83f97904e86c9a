/**
 * The options of a client library that takes an address, a key and a `fetch`: `new OpenAI(…)` of `openai`,
 * `createOpenAICompatible({ name, … })`, `createOpenAI(…)` and `createOpenRouter(…)` of the AI SDK, and others.
 */
export interface ClientOptions {
  /** An address that never resolves, with the path under which requests arrive. Nothing is sent to it. */
  baseURL: string;
  /** A placeholder, because clients demand a key. It authenticates nobody, and is sent nowhere. */
  apiKey: string;
  /** Hands the requests of the client to the gateway, in this process, in the name of the caller. Bound. */
  fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** No retries: the gateway has retried and fallen back already. */
  maxRetries: 0;
}

/** Shorter than any key of the gateway may be, so that no operator can give it to somebody. */
const placeholder = 'unused';

/**
 * Makes the options of a client in this process.
 * @param fetch  as `fetch` of the gateway, for a caller that is known
 */
export function clientOptions(basePath: string, fetch: ClientOptions['fetch']): ClientOptions {
  return {
    // A name that never resolves: where a client ignores `fetch`, no prompt leaves this process.
    baseURL: `http://gateway.invalid${basePath}`,
    apiKey: placeholder,
    fetch,
    maxRetries: 0,
  };
}
