import { createRedactor } from '../../src/base/secrets.ts';
import type { ResponseEnd } from '../../src/call/generation.ts';
import type { ResponseHead } from '../../src/call/response-encoder.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { chatEncoder } from '../../src/formats/chat/encoder.ts';
import { OpenSecrets } from '../../src/pipeline/secrets/open-secrets.ts';
import { ChunkCollector, type ChunkOutput, Passthrough } from '../../src/pipeline/stream/chunk-output.ts';
import { ChoiceWatch, type EventReader } from '../../src/pipeline/stream/events.ts';
import { StreamProgress } from '../../src/pipeline/stream/progress.ts';
import { type StreamMeter, StreamReader } from '../../src/pipeline/stream/reader.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { dialects } from '../../test/support/dialects.ts';
import type { BenchStream } from './streams.ts';

/** Does with a stream what the pipeline does between reading bytes from the provider and writing bytes to the client. */

/** What became of a stream. */
export interface Translated {
  end: ResponseEnd | null;
  meter: StreamMeter;
  /** How many events were decoded; the others passed through. */
  decoded: number;
}

const head: ResponseHead = {
  id: 'gen-1790000000-Be0cHmArK0123456789',
  created: 1_790_000_000,
  model: 'bench/model-25',
  provider: 'Bench',
};
const toClient = chatEncoder('service');
/** Of the provider's key, which no stream echoes. */
const redactor = createRedactor(['sk-bench-key-0123456789abcdef']);
const maxEventBytes = 1024 * 1024;
const bytesOf = new TextEncoder();

/** Decodes every event, and encodes the chunks as our events. */
export function translate(stream: BenchStream, take: (bytes: Uint8Array) => void): Translated {
  const collector = new ChunkCollector(head);
  return read(stream, new OpenSecrets(redactor), collector, () => {
    let text = '';
    for (const chunk of collector.take()) text += toClient.chunk(chunk);
    take(bytesOf.encode(text));
  });
}

/** Forwards what it can as bytes, as the pipeline does where the provider's events are chunks of chat completions. */
export function passThrough(stream: BenchStream, take: (bytes: Uint8Array) => void): Translated {
  const secrets = new OpenSecrets(redactor);
  const output = new Passthrough(head, toClient, redactor, secrets);
  return read(stream, secrets, output, (size) => {
    take(output.take());
    output.begin(size);
  });
}

function read(
  { dialect, chunks }: BenchStream,
  secrets: OpenSecrets,
  output: ChunkOutput,
  deliver: (nextSize: number) => void,
): Translated {
  const { events, decoded } = readerOf(dialects[dialect]);
  const progress = new StreamProgress(new ChoiceWatch(1));
  const reader = new StreamReader(events, redactor, secrets, progress);
  for (const [at, chunk] of chunks.entries()) {
    reader.push(chunk, output);
    deliver(chunks[at + 1]?.length ?? 0);
  }
  reader.flush(output);
  progress.sourceEnded();
  deliver(0);
  return { end: progress.end, meter: reader.meter, decoded: decoded() };
}

function readerOf(dialect: Dialect): { events: EventReader; decoded: () => number } {
  const decoder = dialect.streamDecoder({});
  let decoded = 0;
  const events: EventReader = {
    source: { read: async () => null, cancel: () => undefined },
    framer: dialect.framing.framer(maxEventBytes),
    decoder: {
      decode(data, event) {
        decoded++;
        return decoder.decode(data, event);
      },
    },
    provider: defineProvider({ slug: 'bench', baseUrl: 'http://127.0.0.1:9/v1', dialect }),
  };
  return { events, decoded: () => decoded };
}
