import { UpstreamError } from '../../base/http/upstream-error.ts';
import { wholeOf } from '../../call/native.ts';
import type { Dialect, DialectRequest, EncodedRequest } from '../dialect.ts';
import { unsupported } from '../shared/unsupported.ts';
import { type Fitted, fitRequest } from './fit.ts';

/**
 * Fits a request to what the provider accepts, and makes the provider's request of it.
 * @throws UpstreamError made by `unsupported`, where the request holds what the provider cannot take
 */
export function encodeFitted(dialect: Dialect, input: DialectRequest): EncodedRequest {
  // Others get the chat request alone.
  const own = isReadBy(dialect, input) ? (input.native ?? null) : null;
  // A request that goes on as it came is not changed to fit: a client of the upstream's own wire format made it.
  if (wholeOf(own, input.request) !== null) return dialect.encodeRequest({ ...input, native: own });
  // One that was changed goes on as a chat request, without the parts that only its own format has. Some of these must not be
  // left out: without its thread, or what is stored elsewhere, it would be another conversation.
  const needed = own?.whole === undefined ? [] : own.onlyNative;
  const lacked = needed.find(({ leftOutAs }) => leftOutAs === undefined);
  if (lacked !== undefined)
    throw unsupported(lacked.path, `${lacked.expected}: a plugin or a guardrail has changed the request`);
  const native = own?.whole === undefined ? own : null;
  const encoded = encodeFit(dialect, { ...input, native });
  const left = native === own ? [] : [...(own?.dropped ?? []), ...needed.flatMap(({ leftOutAs = [] }) => leftOutAs)];
  return left.length === 0 ? encoded : { ...encoded, dropped: [...new Set([...encoded.dropped, ...left])] };
}

function isReadBy(dialect: Dialect, { native, upstreamModel, quirks }: DialectRequest): boolean {
  if (!native) return false;
  return native.format === dialect.format || dialect.takesWhole?.(native, upstreamModel, quirks) === true;
}

function encodeFit(dialect: Dialect, input: DialectRequest): EncodedRequest {
  const profile = dialect.profile?.(input.quirks, input.upstreamModel);
  if (profile === undefined) return dialect.encodeRequest(input);
  const { request, native = null } = input;
  const fitted = fitRequest(request, native, profile);
  if (fitted.request === request && fitted.native === native) return dialect.encodeRequest(input);
  const encoded = encode(dialect, { ...input, request: fitted.request, native: fitted.native }, fitted);
  const { dropped, ownNames } = fitted;
  return {
    ...encoded,
    dropped: dropped.length === 0 ? encoded.dropped : [...new Set([...encoded.dropped, ...dropped])],
    ...(ownNames === null ? {} : { reading: { ...encoded.reading, ownNames } }),
  };
}

/** Errors name the place that the caller knows. */
function encode(dialect: Dialect, input: DialectRequest, { places }: Fitted): EncodedRequest {
  try {
    return dialect.encodeRequest(input);
  } catch (error) {
    if (places === undefined || !(error instanceof UpstreamError)) throw error;
    const message = error.message.replace(/^messages\[(\d+)\]/, (path, at) => {
      const place = places[Number(at)];
      return place === undefined || place === null ? path : `messages[${place}]`;
    });
    throw message === error.message ? error : error.with({ message });
  }
}
