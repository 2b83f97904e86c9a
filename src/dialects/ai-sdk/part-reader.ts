import { isObject, type Loose } from '../../base/values.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import { toolCallIds } from '../shared/values.ts';
import { mediaField } from './media.ts';
import { type Metadata, merged, metadataIn, notesDetail, textNotesDetail, thoughtDetail } from './metadata.ts';
import { sources } from './sources.ts';
import { type StreamedCalls, streamedCalls } from './streamed-calls.ts';

/** A text or a thought, or a piece of one. */
interface Piece {
  /** The id of the text or thought. */
  id: unknown;
  text?: unknown;
  /** The citations of a text, which are told when all of the text is. */
  citations?: unknown;
  notes: Metadata | null;
}

/** Reads the parts of one response, in pieces as a stream has them, or each at once. */
export interface PartReader {
  text(piece: Piece): ChunkDelta[];
  thought(piece: Piece): ChunkDelta[];
  calls: Pick<StreamedCalls, 'start' | 'add' | 'complete'>;
  source(part: Loose): void;
  file(part: Loose): ChunkDelta[];
  /** Ends the response, with calls that have no arguments yet. */
  finish(): ChunkDelta[];
  /** true: there are calls that the client has to answer. */
  hasCalls(): boolean;
}

export function partReader(): PartReader {
  const based = sources();
  /** By text: the place where it begins in the complete text. */
  const texts = new Map<unknown, number>();
  /** The index of each thought. */
  const thoughts = new Map<unknown, number>();
  let details = 0;
  const nextDetail = () => details++;
  const calls = streamedCalls(toolCallIds(), nextDetail);
  let textLength = 0;
  let textNotes: Metadata | null = null;
  let hasSound = false;

  function text({ id, text: said, citations, notes }: Piece): ChunkDelta[] {
    const begin = texts.get(id) ?? textLength;
    texts.set(id, begin);
    textNotes = merged(textNotes, notes);
    const deltas: ChunkDelta[] = [];
    if (typeof said === 'string') {
      textLength += said.length;
      deltas.push({ content: said });
    }
    const annotations = based.cited(citations, begin);
    if (annotations.length > 0) deltas.push({ annotations });
    return deltas;
  }

  function thought({ id, text: said, notes }: Piece): ChunkDelta[] {
    let index = thoughts.get(id);
    if (index === undefined) {
      index = nextDetail();
      thoughts.set(id, index);
    }
    const deltas: ChunkDelta[] = [];
    if (typeof said === 'string' && said !== '')
      deltas.push({ reasoning: said, reasoning_details: [thoughtDetail(said, index)] });
    if (notes) deltas.push({ reasoning_details: [notesDetail(notes, index)] });
    return deltas;
  }

  /**
   * Returns the field of a file. If there are several sounds, the first counts: chat completions have a place for one,
   * and two in one are none.
   */
  function file(part: Loose): ChunkDelta[] {
    const field = mediaField(part);
    if (field === null || (field.audio && hasSound)) return [];
    hasSound ||= field.audio !== undefined;
    return [field];
  }

  function finish(): ChunkDelta[] {
    const deltas = calls.endAll();
    // Notes on several texts could not be told apart once the texts are joined.
    if (textNotes !== null && texts.size === 1)
      deltas.push({ reasoning_details: [textNotesDetail(textNotes, nextDetail())] });
    const annotations = based.rest();
    if (annotations.length > 0) deltas.push({ annotations });
    return deltas;
  }

  return { text, thought, calls, source: based.add, file, finish, hasCalls: () => calls.count() > 0 };
}

/** Reads a complete response. */
export function readParts(parts: readonly unknown[], reader: PartReader): ChunkDelta[] {
  const deltas = parts.flatMap((part, id) => (isObject(part) ? readPart(part, id, reader) : []));
  return [...deltas, ...reader.finish()];
}

function readPart(part: Loose, id: number, reader: PartReader): ChunkDelta[] {
  const { type, text, citations } = part;
  const notes = metadataIn(part.providerMetadata);
  if (type === 'text' && typeof text === 'string') return reader.text({ id, text, citations, notes });
  if (type === 'reasoning' && typeof text === 'string') return reader.thought({ id, text, notes });
  if (type === 'tool-call') return reader.calls.complete(part, notes);
  if (type === 'file') return reader.file(part);
  if (type === 'source') reader.source(part);
  return [];
}
