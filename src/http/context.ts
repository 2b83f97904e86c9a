import { wrongArgument } from '../base/refusal.ts';
import type { Caller } from '../call/call.ts';
import type { BodyFailure, BodyReader } from './body.ts';
import { type FindHostCaller, type HostCaller, namedCaller } from './host-caller.ts';

/** What an adapter knows of a request beyond the request itself. */
export interface HandleContext extends BodyReader {
  /** The path the gateway is mounted at, without a trailing slash, such as `/v1` or `/api/llm`. Default `/v1`. */
  basePath?: string;
  /**
   * The path that was asked for, without query and as a URL parser would leave it, where the host has it at hand.
   * Default: that of the request's URL, which many hosts only then put together.
   */
  path?: string;
  /**
   * Who asks, as the host app knows it: the caller, who then needs no key; or a function that finds one of the host
   * app's own users, which is asked where the request holds no known key. Default: a key, or the option `authenticate`.
   */
  caller?: HostCaller | FindHostCaller;
  /**
   * The body, where the host has already read it: as text or bytes (`string`, `Uint8Array`, `Buffer`, `ArrayBuffer`),
   * or parsed, which must be declared as JSON or not at all. The request's own body is then not read. The limits and
   * the schema are the same; of a parsed body, the texts count as its size.
   */
  body?: unknown;
  /** Why the host could not read or parse the body, where it has tried; the request is refused for that. */
  bodyFailure?: BodyFailure;
  /**
   * How the host tells that the client has left; the request's signal is then not looked at. Calls back at most once,
   * and no more once the function it returns was called. A signal costs more than a response from memory.
   */
  onLeave?: (callback: () => void) => () => void;
  /** A host's faster Response class, with the constructor of the standard one. */
  Response?: typeof Response;
}

/** A member that was given is of this type. */
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
 * Checks what the host app, or its adapter, calls `handle` with. Members that nobody knows are its own.
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
