import type { Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/chat.ts';
import type { ChunkDelta, ChunkToolCall } from '../../schema/chunk.ts';
import type { Channel } from './channel.ts';
import type { Texts } from './texts.ts';

/** What the parts of a response share. */
export interface PartTools {
  makeChannel(): Channel;
  /** For what comes complete. */
  readonly texts: Texts;
  /** Throws, where a pattern was found that blocks. */
  refuse(): void;
  /** Throws, where a text cannot be redacted: a sound says it as well. */
  refuseSound(): void;
  /** Whether patterns block or redact; else nothing needs to be held back. */
  readonly holds: boolean;
  /** true: the client speaks Responses, and gets the details of a thought alone. */
  readonly hasItems: boolean;
}

type Audio = NonNullable<ChunkDelta['audio']>;

interface Thought {
  readonly channel: Channel;
  readonly like: ReasoningDetail;
  /** true: another has begun since. */
  isOver: boolean;
}

/**
 * The message of one choice, or one output item of it. Texts are released as far as it is known that they may pass;
 * arguments of calls and sound when the part ends, since nobody can use them before.
 */
export class OutputPart {
  readonly #tools: PartTools;
  readonly #texts = new Map<string, Channel>();
  readonly #thoughts = new Map<string, Thought>();
  readonly #arguments = new Map<number, string>();
  #audio: Audio | null = null;
  #thought: Thought | null = null;
  /** Details that are not sent yet, since more of their text may follow. */
  #waiting: ReasoningDetail[] = [];

  constructor(tools: PartTools) {
    this.#tools = tools;
  }

  /** @returns what goes on now */
  push(delta: ChunkDelta): ChunkDelta {
    const { role, reasoning, reasoning_details: details, tool_calls: calls, audio, ...others } = delta;
    // A symbol of the delta, which says of which item it is a part, stays.
    const left: ChunkDelta = {};
    for (const key of Object.getOwnPropertySymbols(others)) (left as never)[key] = (others as never)[key];
    if (role !== undefined) left.role = role;
    for (const key of Object.keys(others)) this.#pushField(key, others[key], left);
    // To a client that speaks Responses, both would be thoughts.
    const isTwice = this.#tools.hasItems && details?.some(saysSomething) === true;
    if (reasoning !== undefined && !isTwice) this.#pushField('reasoning', reasoning, left);
    if (details !== undefined) this.#think(details, left);
    if (calls !== undefined) this.#call(calls, left);
    if (audio !== undefined) this.#sound(audio, left);
    this.#tools.refuse();
    return left;
  }

  /** No more of the part comes. @returns what was held back */
  end(): ChunkDelta {
    const left: ChunkDelta = {};
    for (const [key, channel] of this.#texts) {
      const text = channel.end();
      if (text !== '') left[key] = text;
    }
    const details = this.#waiting;
    this.#waiting = [];
    this.#endThought(details);
    this.#texts.clear();
    this.#thoughts.clear();
    this.#thought = null;
    if (details.length > 0) left.reasoning_details = details;
    const calls = [...this.#arguments].map(([index, text]) => ({
      index,
      function: { arguments: this.#tools.texts.json(text) },
    }));
    this.#arguments.clear();
    if (calls.length > 0 && this.#tools.holds) left.tool_calls = calls;
    if (this.#audio !== null) left.audio = this.#endOfSound(this.#audio);
    this.#audio = null;
    this.#tools.refuse();
    return left;
  }

  #pushField(key: string, value: unknown, left: ChunkDelta): void {
    if (typeof value !== 'string') left[key] = this.#tools.texts.value(value, key);
    else if (value === '') left[key] = value;
    else {
      const released = this.#channel(key).push(value);
      if (released !== '') left[key] = released;
    }
  }

  #channel(key: string): Channel {
    let channel = this.#texts.get(key);
    if (channel === undefined) {
      channel = this.#tools.makeChannel();
      this.#texts.set(key, channel);
    }
    return channel;
  }

  /** The last detail is sent with the next, where its text may go on: so one that comes complete stays in one. */
  #think(details: readonly ReasoningDetail[], left: ChunkDelta): void {
    const sent = this.#waiting;
    const now: ReasoningDetail[] = [];
    for (const detail of details) this.#detail(detail, sent, now);
    const holds = this.#thought?.channel.holds === true;
    this.#waiting = holds ? now : [];
    if (!holds) sent.push(...now);
    if (sent.length > 0) left.reasoning_details = sent;
  }

  /** @param earlier  where the end of a thought belongs that is over now, if it is not in `now` */
  #detail(detail: ReasoningDetail, earlier: ReasoningDetail[], now: ReasoningDetail[]): void {
    const field = textField(detail);
    const { texts } = this.#tools;
    if (field === null) {
      now.push(texts.value(detail));
      return;
    }
    const { [field]: text, signature, ...others } = detail as Loose;
    const thought = this.#thoughtOf(detail, others as ReasoningDetail);
    if (thought !== this.#thought) {
      this.#endThought(now.length > 0 ? now : earlier);
      this.#thought = thought;
    }
    const { channel } = thought;
    // What is signed is complete. A signature proves nothing of a text that was changed.
    const isSigned = typeof signature === 'string' && signature !== '';
    // A thought that goes on after another has begun could not be looked at as a whole.
    const released =
      (typeof text === 'string' && !thought.isOver ? channel.push(text) : '') + (isSigned ? channel.end() : '');
    now.push({
      ...texts.value(others),
      ...(typeof text === 'string' || released !== '' ? { [field]: released } : {}),
      ...(isSigned && !channel.isChanged ? { signature } : {}),
    } as ReasoningDetail);
  }

  #thoughtOf({ type, id, index }: ReasoningDetail, like: ReasoningDetail): Thought {
    const key = `${type} ${id ?? ''} ${index ?? ''}`;
    let thought = this.#thoughts.get(key);
    if (thought === undefined) {
      thought = { channel: this.#tools.makeChannel(), like, isOver: false };
      this.#thoughts.set(key, thought);
    }
    return thought;
  }

  #endThought(details: ReasoningDetail[]): void {
    if (this.#thought === null) return;
    this.#thought.isOver = true;
    addTail(details, this.#thought.like, this.#thought.channel.end());
  }

  #call(calls: readonly ChunkToolCall[], left: ChunkDelta): void {
    const sent: ChunkToolCall[] = [];
    for (const call of calls) {
      const { function: called, ...others } = call;
      const { arguments: text, ...rest } = called ?? {};
      if (typeof text === 'string' && text !== '')
        this.#arguments.set(call.index, (this.#arguments.get(call.index) ?? '') + text);
      if (!this.#tools.holds) sent.push(call);
      const hasMore = Object.keys(others).length > 1 || Object.keys(rest).length > 0;
      if (!hasMore || !this.#tools.holds) continue;
      const named = this.#tools.texts.value(rest);
      const empty = text === undefined ? {} : { arguments: '' };
      sent.push({ ...others, ...(called === undefined ? {} : { function: { ...named, ...empty } }) });
    }
    if (sent.length > 0) left.tool_calls = sent;
  }

  #sound(audio: Audio, left: ChunkDelta): void {
    if (!this.#tools.holds) {
      left.audio = this.#tools.texts.value(audio);
      return;
    }
    const before: Audio = this.#audio ?? {};
    const data = (before.data ?? '') + (audio.data ?? '');
    const transcript = (before.transcript ?? '') + (audio.transcript ?? '');
    this.#audio = { ...before, ...audio, ...(data ? { data } : {}), ...(transcript ? { transcript } : {}) };
  }

  #endOfSound(audio: Audio): Audio {
    const clean = this.#tools.texts.value(audio);
    if (clean !== audio) this.#tools.refuseSound();
    return clean;
  }
}

/** null: the detail has none that can be read. */
function textField(detail: ReasoningDetail): 'text' | 'summary' | null {
  if (detail.type === 'reasoning.encrypted') return null;
  return detail.type === 'reasoning.summary' ? 'summary' : 'text';
}

function saysSomething(detail: ReasoningDetail): boolean {
  const field = textField(detail);
  return field !== null && Boolean((detail as Loose)[field]);
}

/** Adds the end of a text to the last detail of its kind, or as one of its own. */
function addTail(details: ReasoningDetail[], like: ReasoningDetail, tail: string): void {
  if (tail === '') return;
  const field = textField(like) as string;
  const at = details.findLastIndex((one) => one.type === like.type && one.index === like.index && one.id === like.id);
  const last = details[at] as Loose | undefined;
  if (last === undefined) details.push({ ...like, [field]: tail } as ReasoningDetail);
  else details[at] = { ...last, [field]: `${last[field] ?? ''}${tail}` } as ReasoningDetail;
}
