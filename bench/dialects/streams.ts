import { type DialectName, dialects } from '../../test/support/dialects.ts';
import { eventsPerStream, type Response, responseOf } from './response.ts';
import { wires } from './wires.ts';

/** Streams of the same response and the same number of events, one in the wire format of each dialect. */

/** How many events arrive at once, in turn. */
const eventsAtOnce = [1, 3, 5, 2, 4];

export interface BenchStream {
  dialect: DialectName;
  /** The bytes as they arrive, a few events in each. */
  chunks: readonly Uint8Array[];
  /** What they say. */
  response: Response;
}

/** Every dialect that an option may name. */
export const dialectNames = Object.keys(dialects) as DialectName[];

/** The stream of a dialect. Dialects differ in how many events surround the text; the pieces of text make up for it. */
export function streamOf(dialect: DialectName): BenchStream {
  const write = wires[dialect];
  const response = responseOf(eventsPerStream - write(responseOf(0)).length);
  const events = write(response);
  const chunks: Uint8Array[] = [];
  for (let at = 0, chunk = 0; at < events.length; chunk++) {
    const count = eventsAtOnce[chunk % eventsAtOnce.length] ?? 1;
    // A copy: small buffers share a pool.
    chunks.push(new Uint8Array(Buffer.concat(events.slice(at, at + count))));
    at += count;
  }
  return { dialect, chunks, response };
}
