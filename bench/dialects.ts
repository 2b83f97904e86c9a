import type { DialectName } from '../test/support/dialects.ts';
import { measuring, serveParent } from './control.ts';
import { type Cost, costsOf } from './cpu-cost.ts';
import { eventsPerStream } from './dialects/response.ts';
import { dialectNames, streamOf } from './dialects/streams.ts';
import { passThrough, type Translated, translate } from './dialects/translate.ts';

/** Measures the translation of streams alone, from the sources: the built package does not export it. */

/** CPU per event of a provider's stream. */
export interface DialectCosts {
  /** Every event is decoded, and its chunks are encoded as our events. */
  translated: Record<DialectName, Cost>;
  /** The stream of `openai-chat`, forwarded as bytes, as it is unless a plugin wants to see its chunks. */
  passedThrough: Cost;
}

function measure(): DialectCosts {
  const tasks: Record<string, () => void> = {};
  for (const name of dialectNames) {
    const stream = streamOf(name);
    tasks[name] = () => complete(translate(stream, discard));
  }
  const chat = streamOf('openai-chat');
  tasks.passedThrough = () => complete(passThrough(chat, discard));
  const { passedThrough, ...translated } = costsOf(tasks, { rounds: 40, perRound: 25, parts: eventsPerStream });
  return { translated: translated as DialectCosts['translated'], passedThrough: passedThrough as Cost };
}

function discard(): void {}

/** @throws Error when the stream failed, because it then took less work than intended */
function complete({ end }: Translated): void {
  if (end?.kind !== 'complete') throw new Error('A stream did not come to its end', { cause: end });
}

serveParent({ ...measuring, port: () => 0, measure });
