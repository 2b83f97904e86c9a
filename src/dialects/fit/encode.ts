import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Dialect, DialectRequest, EncodedRequest } from '../dialect.ts';
import { type Fitted, fitRequest } from './fit.ts';

/**
 * Fits a request to what the provider accepts, and makes the provider's request of it.
 * @throws UpstreamError made by `unsupported`, where the request holds what the provider cannot take
 */
export function encodeFitted(dialect: Dialect, input: DialectRequest): EncodedRequest {
  const profile = dialect.profile?.(input.quirks, input.upstreamModel);
  if (profile === undefined) return dialect.encodeRequest(input);
  const { request } = input;
  // Others get the chat request alone.
  const native = input.native?.format === dialect.format ? (input.native ?? null) : null;
  const fitted = fitRequest(request, native, profile);
  if (fitted.request === request && fitted.native === native) return dialect.encodeRequest(input);
  const encoded = encode(
    dialect,
    { ...input, request: fitted.request, native: fitted.native ?? input.native ?? null },
    fitted,
  );
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
