import { type ByteSource, joinBytes } from '../bytes.ts';
import { UpstreamError } from '../http/upstream-error.ts';
import { startOfText } from './first-bytes.ts';
import type { Framing } from './framing.ts';

/** A source whose first bytes were read without being taken away. */
export interface Peeked extends ByteSource {
  isStream: boolean;
}

/** The most bytes that a framing needs to be recognised. */
const longestStart = 16;
/** More white space than this before a response is a flood. */
const maxWhiteSpace = 64 * 1024;

/**
 * Reads up to the first bytes that tell whether a body is a stream of this framing. White space before them is left
 * out.
 * @throws UpstreamError bad_response for a flood of white space
 */
export async function peek(source: ByteSource, framing: Framing): Promise<Peeked> {
  let held: Uint8Array | null = await source.read();
  let leftOut = 0;
  let isStream: boolean | null = null;
  while (held !== null) {
    const start = startOfText(held);
    if (start > 0) held = held.subarray(start);
    leftOut += start;
    if (leftOut > maxWhiteSpace)
      throw new UpstreamError('The provider sent nothing but white space.', { reason: 'bad_response', status: 502 });
    isStream = framing.recognises(startTextOf(held), false);
    if (isStream !== null) break;
    const more = await source.read();
    if (more === null) {
      isStream = framing.recognises(startTextOf(held), true);
      break;
    }
    held = joinBytes([held, more]);
  }
  return {
    isStream: isStream === true,
    read() {
      if (held === null || held.length === 0) return source.read();
      const first = held;
      held = null;
      return Promise.resolve(first);
    },
    cancel: () => source.cancel(),
  };
}

function startTextOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, longestStart));
}
