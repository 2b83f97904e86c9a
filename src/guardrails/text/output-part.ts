import type { Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import type { ChunkDelta, ChunkToolCall } from '../../schema/chat/chunk.ts';
import { CallHeads, withoutArguments } from './call-heads.ts';
import { type Channel, type TextChannel, WholeText } from './channel.ts';
import { isMemberName } from './exceptions.ts';
import { JsonChannel } from './json-channel.ts';
import { beginsLikeJson } from './json-text.ts';
import type { Work } from './pace.ts';
import type { Texts } from './texts.ts';
import { placeOf } from './walk.ts';

/** The tools that the parts of a response share. */
export interface PartTools {
  makeChannel(): Channel;
  /** Makes a channel that ignores patterns which only flag. */
  makeActingChannel(): Channel;
  /** Checks complete texts. */
  readonly texts: Texts;
  /** Throws, if a blocking pattern was found. */
  refuse(): void;
  /** Throws, if a text has to be redacted that a sound also speaks. */
  refuseSound(): void;
  /** true: patterns block or redact. If false, nothing needs to be held back. */
  readonly holds: boolean;
  /** true: patterns redact. */
  readonly redacts: boolean;
  /** true: the client speaks Responses, and gets only the details of a thought. */
  readonly hasItems: boolean;
  /** true: the request asks for JSON as the content. */
  readonly expectsJson: boolean;
  /** true: thoughts and sound go on as they are. */
  readonly skipsThoughts: boolean;
}

type Audio = NonNullable<ChunkDelta['audio']>;

interface Thought {
  readonly channel: Channel;
  readonly like: ReasoningDetail;
  /** true: another thought has begun since. */
  isOver: boolean;
}

/**
 * The message of one choice, or one output item of it. Texts are released as soon as it is certain that they may pass.
 * Arguments of calls and sound are released when the part ends, since a client cannot use them before.
 */
export class OutputPart {
  readonly #tools: PartTools;
  readonly #texts = new Map<string, TextChannel>();
  /** White space before the content: the next character shows whether the content is JSON. */
  #before = '';
  readonly #thoughts = new Map<string, Thought>();
  readonly #arguments = new Map<number, string>();
  readonly #heads = new CallHeads((name) => this.#tools.texts.fixed(name, () => 'tool_calls.function.name'));
  #audio: Audio | null = null;
  #thought: Thought | null = null;
  /** Details that are not sent yet, since more of their text may follow. */
  #waiting: ReasoningDetail[] = [];

  constructor(tools: PartTools) {
    this.#tools = tools;
  }

  /** @returns the delta that is released now */
  *push(delta: ChunkDelta): Work<ChunkDelta> {
    const { role, reasoning, reasoning_details: details, tool_calls: calls, audio, ...others } = delta;
    // A symbol of the delta, which names its item, stays.
    const left: ChunkDelta = {};
    for (const key of Object.getOwnPropertySymbols(others)) (left as never)[key] = (others as never)[key];
    if (role !== undefined) left.role = role;
    for (const key of Object.keys(others)) yield* this.#pushField(key, others[key], left);
    if (this.#tools.skipsThoughts) {
      if (reasoning !== undefined) left.reasoning = reasoning;
      if (details !== undefined) left.reasoning_details = details;
      if (calls !== undefined) yield* this.#call(calls, left);
      else if (this.#heads.areOpen) yield* this.#announce(left);
      if (audio !== undefined) left.audio = audio;
      return left;
    }
    // A client that speaks Responses would show both as thoughts.
    const isTwice = this.#tools.hasItems && details?.some(saysSomething) === true;
    if (reasoning !== undefined && !isTwice) yield* this.#pushField('reasoning', reasoning, left);
    if (details !== undefined) yield* this.#think(details, left);
    if (calls !== undefined) yield* this.#call(calls, left);
    else if (this.#heads.areOpen) yield* this.#announce(left);
    if (audio !== undefined) yield* this.#sound(audio, left);
    this.#tools.refuse();
    return left;
  }

  /** Ends the part. @returns the texts that were held back */
  *end(): Work<ChunkDelta> {
    const left: ChunkDelta = {};
    if (this.#before !== '') left.content = this.#before;
    this.#before = '';
    for (const [key, channel] of this.#texts) {
      const text = yield* channel.end();
      if (text !== '') left[key] = text;
    }
    const details = this.#waiting;
    this.#waiting = [];
    yield* this.#endThought(details);
    this.#texts.clear();
    this.#thoughts.clear();
    this.#thought = null;
    if (details.length > 0) left.reasoning_details = details;
    const heads = yield* this.#tools.texts.value(yield* this.#heads.rest(), 'tool_calls');
    const calls: ChunkToolCall[] = [];
    for (const [index, text] of this.#arguments)
      calls.push({ index, function: { arguments: yield* this.#tools.texts.text(text) } });
    this.#arguments.clear();
    if (this.#tools.holds && heads.length + calls.length > 0) left.tool_calls = [...heads, ...calls];
    if (this.#audio !== null) left.audio = yield* this.#endOfSound(this.#audio);
    this.#audio = null;
    this.#tools.refuse();
    return left;
  }

  *#pushField(key: string, value: unknown, left: ChunkDelta): Work<void> {
    if (!isMemberName(key)) yield* this.#tools.texts.fixed(key, () => placeOf([key]));
    if (typeof value !== 'string') left[key] = yield* this.#tools.texts.value(value, key);
    else if (value === '') left[key] = value;
    else {
      const released = key === 'content' ? yield* this.#pushContent(value) : yield* this.#channel(key).push(value);
      if (released !== '') left[key] = released;
    }
  }

  *#pushContent(piece: string): Work<string> {
    const text = this.#before + piece;
    this.#before = '';
    if (!this.#texts.has('content')) {
      if (!/[^ \t\r\n]/.test(text)) {
        this.#before = text;
        return '';
      }
      const isJson = this.#tools.expectsJson ? beginsLikeJson(text) : /^[ \t\r\n]*\{/.test(text);
      if (isJson) this.#texts.set('content', this.#jsonChannel());
    }
    return yield* this.#channel('content').push(text);
  }

  /**
   * Makes the channel for JSON. Redaction needs the whole JSON, so that it stays JSON. Blocking alone delays nothing.
   */
  #jsonChannel(): TextChannel {
    const { texts, holds, redacts, makeActingChannel } = this.#tools;
    return holds && !redacts ? new JsonChannel(texts, makeActingChannel) : new WholeText(texts, holds);
  }

  #channel(key: string): TextChannel {
    let channel = this.#texts.get(key);
    if (channel === undefined) {
      channel = this.#tools.makeChannel();
      this.#texts.set(key, channel);
    }
    return channel;
  }

  /** Holds the last detail until the next one, where its text may go on: so a complete detail stays in one piece. */
  *#think(details: readonly ReasoningDetail[], left: ChunkDelta): Work<void> {
    const sent = this.#waiting;
    const now: ReasoningDetail[] = [];
    for (const detail of details) yield* this.#detail(detail, sent, now);
    const holds = this.#thought?.channel.holds === true;
    this.#waiting = holds ? now : [];
    if (!holds) sent.push(...now);
    if (sent.length > 0) left.reasoning_details = sent;
  }

  /** @param earlier  gets the end of a thought that is over now, if the thought is not in `now` */
  *#detail(detail: ReasoningDetail, earlier: ReasoningDetail[], now: ReasoningDetail[]): Work<void> {
    const field = textField(detail);
    const { texts } = this.#tools;
    if (field === null) {
      now.push(yield* texts.value(detail));
      return;
    }
    const { [field]: text, signature, ...others } = detail as Loose;
    const thought = this.#thoughtOf(detail, others as ReasoningDetail);
    if (thought !== this.#thought) {
      yield* this.#endThought(now.length > 0 ? now : earlier);
      this.#thought = thought;
    }
    const { channel } = thought;
    // A signed thought is complete. A signature is void for a text that was changed.
    const isSigned = typeof signature === 'string' && signature !== '';
    // A thought that goes on after another has begun could not be checked as a whole.
    const released =
      (typeof text === 'string' && !thought.isOver ? yield* channel.push(text) : '') +
      (isSigned ? yield* channel.end() : '');
    now.push({
      ...(yield* texts.value(others)),
      ...(typeof text === 'string' || released !== '' ? { [field]: released } : {}),
      ...(isSigned && !channel.isChanged ? { signature: yield* texts.value(signature, 'signature') } : {}),
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

  *#endThought(details: ReasoningDetail[]): Work<void> {
    if (this.#thought === null) return;
    this.#thought.isOver = true;
    addTail(details, this.#thought.like, yield* this.#thought.channel.end());
  }

  /** Announces a call once its name is complete, and sends its arguments when the call is complete. */
  *#call(calls: readonly ChunkToolCall[], left: ChunkDelta): Work<void> {
    const { texts, holds } = this.#tools;
    const sent: ChunkToolCall[] = [];
    for (const call of calls) {
      const text = call.function?.arguments;
      if (typeof text === 'string' && text !== '')
        this.#arguments.set(call.index, (this.#arguments.get(call.index) ?? '') + text);
      if (!holds) sent.push(call);
      else sent.push(...(yield* this.#heads.push(call)));
    }
    // Patterns that only flag check the pieces as they come.
    if (!holds) yield* texts.value(calls.map(withoutArguments), 'tool_calls');
    if (sent.length > 0) left.tool_calls = holds ? yield* texts.value(sent, 'tool_calls') : sent;
  }

  /** Announces the open calls, because their names are complete when something else comes. */
  *#announce(left: ChunkDelta): Work<void> {
    left.tool_calls = yield* this.#tools.texts.value(yield* this.#heads.rest(), 'tool_calls');
  }

  *#sound(audio: Audio, left: ChunkDelta): Work<void> {
    if (!this.#tools.holds) {
      left.audio = yield* this.#tools.texts.value(audio);
      return;
    }
    const before: Audio = this.#audio ?? {};
    const data = (before.data ?? '') + (audio.data ?? '');
    const transcript = (before.transcript ?? '') + (audio.transcript ?? '');
    this.#audio = { ...before, ...audio, ...(data ? { data } : {}), ...(transcript ? { transcript } : {}) };
  }

  *#endOfSound(audio: Audio): Work<Audio> {
    const clean = yield* this.#tools.texts.value(audio);
    if (clean !== audio) this.#tools.refuseSound();
    return clean;
  }
}

/** The field with the text of a detail; null: it has no readable text. */
function textField(detail: ReasoningDetail): 'text' | 'summary' | null {
  if (detail.type === 'reasoning.encrypted') return null;
  return detail.type === 'reasoning.summary' ? 'summary' : 'text';
}

function saysSomething(detail: ReasoningDetail): boolean {
  const field = textField(detail);
  return field !== null && Boolean((detail as Loose)[field]);
}

/** Adds the end of a text to the last detail of its kind, or as a new detail. */
function addTail(details: ReasoningDetail[], like: ReasoningDetail, tail: string): void {
  if (tail === '') return;
  const field = textField(like) as string;
  const at = details.findLastIndex((one) => one.type === like.type && one.index === like.index && one.id === like.id);
  const last = details[at] as Loose | undefined;
  if (last === undefined) details.push({ ...like, [field]: tail } as ReasoningDetail);
  else details[at] = { ...last, [field]: `${last[field] ?? ''}${tail}` } as ReasoningDetail;
}
