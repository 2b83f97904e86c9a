import type { Pending } from '../base/async/pending.ts';
import { GatewayError } from '../base/errors.ts';
import { refusal } from '../base/refusal.ts';
import type { Coding, Inflater } from '../transport/inflate.ts';

/** The largest number of codings, one on top of another. Only an attacker would use more. */
const maxCodings = 3;

/**
 * The codings of a body, in the order in which the client applied them; null: the body is not compressed.
 * @throws GatewayError unsupported_media_type (415) for a coding that the runtime does not know
 */
export function codingsOf({ headers }: Request, inflater: Inflater): readonly Coding[] | null {
  const header = headers.get('content-encoding');
  if (header === null || header === '' || header === 'identity') return null;
  const codings = header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
    .map((name) => (name === 'x-gzip' ? 'gzip' : name));
  if (codings.length > maxCodings) throw unsupported('The body is compressed too many times over', inflater);
  const known: readonly string[] = inflater.codings;
  if (!codings.every((name) => known.includes(name)))
    throw unsupported('The body is compressed in a way that is not taken here', inflater);
  return codings.length === 0 ? null : (codings as Coding[]);
}

function unsupported(problem: string, { codings }: Inflater): GatewayError {
  const remedy = codings.length === 0 ? '' : `with one of the codings ${codings.join(', ')}, or `;
  return new GatewayError('unsupported_media_type', `${problem}; send it ${remedy}without Content-Encoding`, {
    headers: { 'accept-encoding': codings.join(', ') || 'identity' },
  });
}

/**
 * Inflates a body after it was read. Each coding stops at the limit. So a small compressed body costs no more than an
 * uncompressed one.
 * @param read      reads the compressed body. A host returns text where the bytes happen to be UTF-8
 * @param tooLarge  makes the error for a body that is too large
 */
export function inflated(
  read: Pending<string | Uint8Array>,
  codings: readonly Coding[],
  limitBytes: number,
  inflater: Inflater,
  tooLarge: () => GatewayError,
): Pending<Uint8Array> {
  const inflateAll = async (given: string | Uint8Array): Promise<Uint8Array> => {
    let bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given;
    if (bytes.length > limitBytes) throw tooLarge();
    // A body without a single byte is empty, whatever its header says.
    if (bytes.length === 0) return bytes;
    for (const coding of codings.toReversed()) {
      const result = await inflater.inflate(coding, bytes, limitBytes);
      if (result === 'too_large') throw tooLarge();
      if (result === 'broken') throw broken(coding);
      bytes = result;
    }
    return bytes;
  };
  return (done, failed) => read((given) => void inflateAll(given).then(done, failed), failed);
}

function broken(coding: Coding): GatewayError {
  const message = `The body is not valid ${coding} data: it is damaged, cut off, or goes on after its end`;
  return refusal('invalid_request', [{ path: '', message }]);
}
