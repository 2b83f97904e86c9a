import type { Loose } from '../../base/values.ts';
import { withNotes } from './notes.ts';
import { addDetail } from './reasoning.ts';
import type { Citation, StreamPart } from './types.ts';

/** A block of text or of thoughts that is open. There is one at a time. */
type Block = { id: string } & (
  | { kind: 'text'; isRefusal: boolean; offset: number; citations: Citation[]; annotations: unknown[] }
  | { kind: 'reasoning'; index: unknown; details: Loose[] }
);

/** Values that have to be sent back with a part. */
interface Pending {
  reasoning_details?: Loose[] | undefined;
  annotations?: unknown[] | undefined;
}

/** The texts and the thoughts of one response, in blocks. */
export interface Blocks {
  /** Adds to the text. */
  say(text: unknown, isRefusal: boolean): StreamPart[];
  /** Adds to the thoughts. @param index  of the detail; undefined: any */
  think(text: string, index: unknown, detail: Loose | null): StreamPart[];
  /** Takes a detail that nobody can read. It goes back with the thought that is open, or with the part that comes next. */
  keep(detail: Loose): void;
  /** Takes an annotation that has to go back. */
  annotate(annotation: unknown): void;
  /** Adds a citation to the text that is open. */
  cite(citation: Citation): void;
  /** The place where the open text begins in the complete text. */
  offset(): number;
  /** Closes the block that is open. */
  close(): StreamPart[];
  /** Closes the last block, with all that has to go back. */
  end(): StreamPart[];
  /** Takes what has to go back and no block has taken. */
  takePending(): Pending;
  /** true: the model has refused to respond. */
  hasRefused(): boolean;
}

export function openBlocks(): Blocks {
  let open: Block | null = null;
  let count = 0;
  let textLength = 0;
  let hasRefused = false;
  let details: Loose[] = [];
  let annotations: unknown[] = [];

  function takePending(): Pending {
    const taken = { reasoning_details: some(details), annotations: some(annotations) };
    details = [];
    annotations = [];
    return taken;
  }

  /** @param pending  goes back with a text */
  function close(pending: Pending = {}): StreamPart[] {
    const block = open;
    open = null;
    if (block === null) return [];
    const { id } = block;
    if (block.kind === 'reasoning')
      return [{ type: 'reasoning-end', id, ...withNotes({ reasoning_details: some(block.details) }) }];
    const notes = {
      refusal: block.isRefusal || undefined,
      reasoning_details: pending.reasoning_details,
      annotations: some([...block.annotations, ...(pending.annotations ?? [])]),
    };
    const { citations } = block;
    return [{ type: 'text-end', id, ...(citations.length > 0 ? { citations } : {}), ...withNotes(notes) }];
  }

  function think(text: string, index: unknown, detail: Loose | null): StreamPart[] {
    const parts: StreamPart[] = [];
    if (open?.kind !== 'reasoning' || (index !== undefined && (open.index ?? index) !== index)) {
      parts.push(...close());
      open = { kind: 'reasoning', id: `reasoning-${count++}`, index, details };
      details = [];
      parts.push({ type: 'reasoning-start', id: open.id });
    }
    open.index ??= index;
    if (detail !== null) addDetail(open.details, detail);
    return text === '' ? parts : [...parts, { type: 'reasoning-delta', id: open.id, delta: text }];
  }

  return {
    say(text, isRefusal) {
      if (typeof text !== 'string' || text === '') return [];
      const parts: StreamPart[] = [];
      if (open?.kind !== 'text' || open.isRefusal !== isRefusal) {
        parts.push(...close());
        open = { kind: 'text', id: `text-${count++}`, isRefusal, offset: textLength, citations: [], annotations: [] };
        parts.push({ type: 'text-start', id: open.id });
      }
      if (!isRefusal) textLength += text.length;
      hasRefused ||= isRefusal;
      return [...parts, { type: 'text-delta', id: open.id, delta: text }];
    },
    think,
    keep: (detail) => addDetail(open?.kind === 'reasoning' ? open.details : details, detail),
    annotate: (annotation) => (open?.kind === 'text' ? open.annotations : annotations).push(annotation),
    cite(citation) {
      if (open?.kind === 'text') open.citations.push(citation);
    },
    offset: () => (open?.kind === 'text' ? open.offset : 0),
    close: () => close(),
    end() {
      if (open?.kind === 'text') return close(takePending());
      const parts = close();
      // Thoughts that nothing follows are a block without a text.
      return details.length === 0 ? parts : [...parts, ...think('', undefined, null), ...close()];
    },
    takePending,
    hasRefused: () => hasRefused,
  };
}

function some<Item>(list: Item[]): Item[] | undefined {
  return list.length > 0 ? list : undefined;
}
