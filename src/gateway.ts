/** What an adapter knows of a request beyond the request itself. */
export interface HandleContext {
  /** The path the gateway is mounted at, without a trailing slash, such as `/v1` or `/api/llm`. Default `/v1`. */
  basePath?: string;
  /** The body, where the host has already read and parsed it; the request's own body is then not read. */
  body?: unknown;
  /** A host's faster Response class, with the constructor of the standard one. */
  Response?: typeof Response;
}

export interface Gateway {
  /** Request in, Response out. Takes what `fetch` takes, so that it can be handed to a client as its `fetch`. Bound. */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /** As `fetch`, for adapters. Never rejects. Bound. */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** Ends open streams and upstream connections. */
  close(): Promise<void>;
}
