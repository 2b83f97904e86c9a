import { placeholder, type Redactor, shortestRedacted } from '../../base/secrets.ts';
import { nativeEventsOf, outdateNativeEvents, type UnseenText } from '../../call/native-events.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chat/chunk.ts';

/** The end of a received text, which is the beginning of a secret. */
interface Open {
  text: string;
  /** The number of its characters that were shown. The rest is held back. */
  shown: number;
}

/** The open ends of nearly all streams. Nothing is ever added to it. */
const noneOpen = new Map<string, Open>();

/**
 * Takes out secrets that an upstream splits over several events of a stream. A secret within one event was redacted
 * before. An end of a text that is the beginning of a secret is held back from its eighth character on, until the next
 * event shows whether the secret goes on. So fewer characters are shown of a split secret than a label shows of a key.
 */
export class OpenSecrets {
  readonly #redactor: Redactor;
  /** true: something was taken out of the chunk that is looked at, held back, or put into it. */
  #isChanged = false;
  /** The open ends, by choice and field. */
  #open = noneOpen;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Returns the open end of a text, by `keyOf`; undefined: its end begins no secret. */
  get(key: string): Readonly<Open> | undefined {
    return this.#open.get(key);
  }

  /** Notes an end that was shown, of fewer than eight characters; '': the text has no such end. */
  note(key: string, text: string): void {
    if (text === '') this.#open.delete(key);
    else this.#add(key, { text, shown: text.length });
  }

  #add(key: string, open: Open): void {
    if (this.#open === noneOpen) this.#open = new Map();
    this.#open.set(key, open);
  }

  /** Returns the chunk without secrets, and without an end that is held back. */
  clean(chunk: ChatChunk): ChatChunk {
    if (this.#redactor.longest === 0) return chunk;
    this.#isChanged = false;
    for (const { index, delta, finish_reason } of chunk.choices) {
      this.#cleanDelta(index, delta);
      if (finish_reason !== null && !this.isEmpty) this.#release(index, delta);
    }
    for (const { unseen } of nativeEventsOf(chunk) ?? []) if (unseen !== undefined) this.#cleanUnseen(unseen);
    if (!this.isEmpty) this.#endTexts(chunk);
    // The event that the chunk was made of holds the piece as it came.
    if (this.#isChanged) outdateNativeEvents(chunk);
    return chunk;
  }

  /** Cleans a text that stands in no delta. Nothing of it is held back behind its end. */
  #cleanUnseen(unseen: UnseenText): void {
    const { name, piece, isLast } = unseen;
    if (piece !== '') unseen.piece = this.#next(name, piece);
    const open = isLast ? this.#open.get(name) : undefined;
    if (open === undefined) return;
    this.#open.delete(name);
    if (open.shown >= open.text.length) return;
    unseen.piece += open.text.slice(open.shown);
    this.#isChanged = true;
  }

  #cleanDelta(index: number, delta: ChunkDelta): void {
    for (const field of textFields) {
      const text = delta[field];
      if (typeof text === 'string' && text !== '') delta[field] = this.#next(keyOf(index, field), text);
    }
    const { audio } = delta;
    if (audio?.transcript) audio.transcript = this.#next(keyOf(index, 'transcript'), audio.transcript);
    for (const call of delta.tool_calls ?? []) {
      const called = call.function;
      if (called?.arguments) called.arguments = this.#next(keyOf(index, call.index), called.arguments);
    }
    for (const detail of delta.reasoning_details ?? []) {
      const key = keyOf(index, `${detail.type} ${detail.index ?? 0}`);
      if (detail.type === 'reasoning.text' && detail.text) detail.text = this.#next(key, detail.text);
      if (detail.type === 'reasoning.summary') detail.summary = this.#next(key, detail.summary);
    }
  }

  /** @returns the part of the text that is shown now that this piece of it has come */
  #next(key: string, piece: string): string {
    const shown = this.#shownOf(key, piece);
    if (shown !== piece) this.#isChanged = true;
    return shown;
  }

  #shownOf(key: string, piece: string): string {
    const open = this.#open.get(key);
    if (open === undefined && piece.length < shortestRedacted && this.#openAt(piece) < 0) return piece;
    let text = (open?.text ?? '') + piece;
    let shown = open?.shown ?? 0;
    let out = '';
    for (let found = this.#find(text); found !== null; found = this.#find(text)) {
      out += text.slice(shown, Math.max(found.from, shown)) + placeholder;
      text = text.slice(found.to);
      shown = 0;
    }
    const from = this.#openAt(text);
    if (from < 0) {
      this.#open.delete(key);
      return out + text.slice(shown);
    }
    const end = text.slice(from);
    const shownOfEnd = end.length < shortestRedacted ? end.length : Math.max(shown - from, 0);
    this.#add(key, { text: end, shown: shownOfEnd });
    return out + text.slice(shown, from + shownOfEnd);
  }

  /** Finds the first secret in a text. */
  #find(text: string): { from: number; to: number } | null {
    let first: { from: number; to: number } | null = null;
    for (const spelling of this.#redactor.spellings) {
      const from = text.length < spelling.length ? -1 : text.indexOf(spelling);
      if (from >= 0 && (first === null || from < first.from)) first = { from, to: from + spelling.length };
    }
    return first;
  }

  /** Returns the place where the longest end of a text starts that is the beginning of a secret; -1: there is none. */
  #openAt(text: string): number {
    const { spellings, longest, startsNeedle } = this.#redactor;
    for (let at = Math.max(text.length - longest + 1, 0); at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 && startsNeedle[code] === 0) continue;
      const end = text.slice(at);
      if (spellings.some((spelling) => spelling.length > end.length && spelling.startsWith(end))) return at;
    }
    return -1;
  }

  /**
   * Releases the text that was held back of texts that end here, such as those of a block: what follows stands elsewhere. A
   * secret that goes on there all the same loses the rest of it.
   */
  #endTexts(chunk: ChatChunk): void {
    for (const { ends } of nativeEventsOf(chunk) ?? []) {
      const [choice] = chunk.choices;
      if (ends === undefined || choice === undefined) continue;
      const name = keyOf(choice.index, ends);
      for (const [key, open] of this.#open) {
        // The details of a thought stand beside its text.
        if ((key !== name && !key.startsWith(`${name}.`)) || open.shown >= open.text.length) continue;
        append(choice.delta, key.slice(keyOf(choice.index, '').length), open.text.slice(open.shown));
        open.shown = open.text.length;
        this.#isChanged = true;
      }
    }
  }

  /** Releases the text that was held back of a choice: the choice is finished, so the text is no secret. */
  #release(index: number, delta: ChunkDelta): void {
    const start = keyOf(index, '');
    for (const [key, { text, shown }] of this.#open) {
      if (!key.startsWith(start)) continue;
      this.#open.delete(key);
      if (shown >= text.length) continue;
      append(delta, key.slice(start.length), text.slice(shown));
      this.#isChanged = true;
    }
  }
}

const textFields = ['content', 'reasoning', 'refusal'] as const;

/** Adds text to a delta. @param name  the name of the text, as in `keyOf` */
function append(delta: ChunkDelta, name: string, text: string): void {
  const [field, index] = name.split(' ');
  switch (field) {
    case 'content':
    case 'reasoning':
    case 'refusal':
      delta[field] = (delta[field] ?? '') + text;
      break;
    case 'transcript':
      delta.audio = { ...delta.audio, transcript: (delta.audio?.transcript ?? '') + text };
      break;
    case 'reasoning.text':
      delta.reasoning_details = [...(delta.reasoning_details ?? []), { type: field, text, index: Number(index) }];
      break;
    case 'reasoning.summary':
      delta.reasoning_details = [
        ...(delta.reasoning_details ?? []),
        { type: field, summary: text, index: Number(index) },
      ];
      break;
    default:
      delta.tool_calls = [...(delta.tool_calls ?? []), { index: Number(field), function: { arguments: text } }];
  }
}

/**
 * Names a text of a stream: a field of a choice, a reasoning detail by its type and index, or the arguments of the tool
 * call of that index.
 */
export function keyOf(choice: number, field: string | number): string {
  return `${choice} ${field}`;
}
