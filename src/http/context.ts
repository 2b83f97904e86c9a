import { wrongArgument } from '../base/refusal.ts';
import type { Caller } from '../call/call.ts';
import type { BodyFailure, BodyReader } from './body.ts';
import { type FindHostCaller, type HostCaller, namedCaller } from './host-caller.ts';

/** The facts about a request that an adapter adds to the request. */
export interface HandleContext extends BodyReader {
  /** The path the gateway is mounted at, without a trailing slash, such as `/v1` or `/api/llm`. Default `/v1`. */
  basePath?: string;
  /**
   * The requested path, without query and normalized like a URL, if the host has it already. Default: the path of the
   * request's URL, which many hosts only build when it is read.
   */
  path?: string;
  /**
   * The caller, as the host app knows it, who then needs no key. Or a function that finds one of the host app's own
   * users; it is called for a request without a known key. Default: a key, or the option `authenticate`.
   */
  caller?: HostCaller | FindHostCaller;
  /**
   * The body, where the host has already read it: as text or bytes (`string`, `Uint8Array`, `Buffer`, `ArrayBuffer`),
   * or parsed, which must be declared as JSON or not at all. The request's own body is then not read. The limits and
   * the schema are the same; of a parsed body, the texts count as its size.
   */
  body?: unknown;
  /** The reason why the host could not read or parse the body; the request is refused for it. */
  bodyFailure?: BodyFailure;
  /**
   * Listens for the client's leave; the request's signal is then ignored. Calls back at most once, and no more once the
   * returned function was called. A signal costs more than a response from memory. Until then, a host that stops may
   * call `cut`: a stream then tells its client why it ends, and any other request gets a 503.
   */
  onLeave?: (callback: () => void, cut: () => void) => () => void;
  /** A host's faster Response class, with the constructor of the standard one. */
  Response?: typeof Response;
}

/** The type that a given member must have. */
const types = {
  basePath: 'string',
  path: 'string',
  bodyFailure: 'string',
  onLeave: 'function',
  Response: 'function',
  beforeBody: 'function',
  readText: 'function',
} as const satisfies Partial<Record<keyof HandleContext, string>>;
const names = Object.keys(types) as (keyof typeof types)[];

/**
 * Checks the arguments with which the host app, or its adapter, calls `handle`. Unknown members are the host app's own.
 * @returns the caller, or the function that finds one
 * @throws GatewayError invalid_request (400) that names the argument
 */
export function checkHandled(request: unknown, context: unknown): Caller | FindHostCaller | undefined {
  if (typeof request !== 'object' || request === null || typeof (request as Request).method !== 'string')
    throw wrongArgument('request', 'expected a Request');
  if (typeof context !== 'object' || context === null) throw wrongArgument('context', 'expected object');
  for (const name of names) {
    const given = (context as HandleContext)[name];
    if (given !== undefined && typeof given !== types[name])
      throw wrongArgument(`context.${name}`, `expected ${types[name]}`);
  }
  const { caller } = context as HandleContext;
  return caller === undefined || typeof caller === 'function' ? caller : namedCaller(caller, 'context.caller');
}
