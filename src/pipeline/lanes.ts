import { OutputBuffer } from '../base/output.ts';
import type { Redactor } from '../base/secrets.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { ResponseEncoder, ResponseHead } from '../call/response-encoder.ts';
import type { StreamPart } from '../dialects/dialect.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import { decodeFrame, type EventReader, nextFrame } from './events.ts';
import { learnTemplate, matchTemplate, newMatch, type Template, writeMatch } from './template.ts';

/** What a lane tells of what passes through it. */
export interface LaneSink {
  /** A chunk, before it is written. */
  chunk(chunk: ChatChunk): void;
  usage(part: StreamPart & { kind: 'usage' }): void;
  /** Output text that passed as bytes: its size. */
  text(bytes: number): void;
  /** Nothing after this counts. */
  end(part: StreamPart & { kind: 'error' | 'done' }): void;
}

/** Turns pieces of an upstream's stream into pieces of the client's. */
export interface Lane {
  /** Whole frames of the client's wire for the whole events among the bytes so far; what is wrong with them goes to the sink. */
  push(piece: Uint8Array): Uint8Array<ArrayBuffer>;
  /** At the end of the upstream's stream: its last event, where its blank line is missing. */
  flush(): Uint8Array<ArrayBuffer>;
  /** Parts that were decoded before the lane began, and the whole events that came in the same piece. */
  parts(parts: readonly StreamPart[]): Uint8Array<ArrayBuffer>;
}

export interface LaneInput {
  events: EventReader | null;
  wire: ResponseEncoder;
  head: ResponseHead;
  /** false: every event is decoded. */
  passthrough: boolean;
  /** What each chunk goes through on its way; null drops it. With any, every event is decoded. */
  steps: readonly ((chunk: ChatChunk) => ChatChunk | null)[];
  /** Takes out keys that the upstream echoes. */
  redactor: Redactor;
  sink: LaneSink;
}

/** A stream whose events keep changing shape is decoded; learning from each would only cost. */
const maxLearned = 8;

export function createLane({ events, wire, head, passthrough, steps, redactor, sink }: LaneInput): Lane {
  const match = newMatch();
  let templates: Template[] = [];
  let learned = 0;
  let ended = false;

  function push(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    (events as EventReader).framer.push(piece);
    const out = new OutputBuffer(piece.length + 1024);
    forward(out);
    (events as EventReader).framer.release();
    return out.take();
  }

  /** Forwards the whole events that are here. */
  function forward(out: OutputBuffer): void {
    while (!ended && events) {
      if (forwardMatches(out)) continue;
      try {
        if (!nextFrame(events.framer)) break;
        decode(out);
      } catch (error) {
        // What came before it in the same piece still counts.
        if (!(error instanceof UpstreamError)) throw error;
        write([{ kind: 'error', error }], out);
      }
    }
  }

  /** Forwards an event that is like one before. */
  function forwardMatches(out: OutputBuffer): boolean {
    const { framer } = events as EventReader;
    for (const template of templates) {
      if (!matchTemplate(template, framer.buffer, framer.end, framer.length, redactor, match)) continue;
      if (match.end - framer.end > framer.maxEventBytes) return false;
      sink.text(writeMatch(template, framer.buffer, match, out));
      framer.skipTo(match.end);
      return true;
    }
    return false;
  }

  /** Decodes the event the framer stands at. */
  function decode(out: OutputBuffer): void {
    const reader = events as EventReader;
    const parts = decodeFrame(reader, redactor);
    write(parts, out);
    const first = parts[0];
    if (passthrough && steps.length === 0 && parts.length === 1 && first?.kind === 'chunk' && learned < maxLearned)
      learn(reader, first.chunk);
  }

  function learn({ framer }: EventReader, chunk: ChatChunk): void {
    const event = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      framer.buffer.subarray(framer.start, framer.end),
    );
    const template = learnTemplate(event, withHead(chunk), (one) => wire.chunk(one));
    if (!template) return;
    learned++;
    // The newest first: the two that a stream goes to and fro between are its reasoning and its text.
    templates = [template, ...templates.slice(0, 1)];
  }

  function write(parts: readonly StreamPart[], out: OutputBuffer): void {
    for (const part of parts) {
      if (ended) return;
      if (part.kind === 'chunk') {
        sink.chunk(part.chunk);
        if (!ended) writeChunk(part.chunk, out);
      } else if (part.kind === 'usage') sink.usage(part);
      else {
        ended = true;
        sink.end(part);
      }
    }
  }

  function writeChunk(chunk: ChatChunk, out: OutputBuffer): void {
    let current: ChatChunk | null = chunk;
    for (const target of steps) current = current && target(current);
    if (current) out.write(wire.chunk(withHead(current)));
  }

  function withHead(chunk: ChatChunk): ChatChunk {
    const { id: _id, object: _object, created: _created, model: _model, provider: _provider, choices, ...rest } = chunk;
    return {
      id: head.id,
      object: 'chat.completion.chunk',
      created: head.created,
      model: head.model,
      provider: head.provider,
      ...rest,
      choices,
    };
  }

  return {
    push,
    flush() {
      const out = new OutputBuffer(1024);
      if (!ended && events?.framer.last()) decode(out);
      return out.take();
    },
    parts(parts) {
      const out = new OutputBuffer(1024);
      write(parts, out);
      forward(out);
      return out.take();
    },
  };
}
