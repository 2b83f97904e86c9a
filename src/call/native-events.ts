import type { NativeObject } from './native.ts';

/** An event of an upstream that speaks the client's own wire format, as it came. */
export interface NativeEvent {
  /** Name of the event. */
  readonly name: string;
  /** The data of the event. */
  readonly data: string;
  /** The text that ends with the event: a field of a delta, or the number of a call whose arguments it is. Absent: none. */
  readonly ends?: 'content' | 'reasoning' | number;
  /** A text of the event that stands in no delta, such as the input of a tool that the provider runs. Absent: none. */
  readonly unseen?: UnseenText;
}

/** A text that only a client of the upstream's own format gets. */
export interface UnseenText {
  /** The name of the text, in all events that it goes on in. */
  readonly name: string;
  /** The piece of it in this event; changed where a secret stands in it. */
  piece: string;
  /** true: the text ends with the event. */
  readonly isLast: boolean;
}

/** The symbols of the fields. No JSON has them, so no upstream can make one up. */
const events = Symbol('native events');
const outdated = Symbol('outdated native events');
/** The bodies of messages, by their identity: a changed copy has none. */
const bodies = new WeakMap<object, NativeObject>();

/** Returns the chunk, with the events that it was made of. */
export function withNativeEvents<Chunk extends object>(chunk: Chunk, made: readonly NativeEvent[]): Chunk {
  return Object.assign(chunk, { [events]: made });
}

/** Notes that a chunk no longer says the same as the events that it was made of. */
export function outdateNativeEvents(chunk: object): void {
  const made = nativeEventsOf(chunk);
  if (made === null) return;
  delete (chunk as { [events]?: readonly NativeEvent[] })[events];
  Object.assign(chunk, { [outdated]: made });
}

/** Returns the events that a chunk was made of before it was changed; null: there are none, or it is as it was. */
export function outdatedEventsOf(chunk: object): readonly NativeEvent[] | null {
  return (chunk as { [outdated]?: readonly NativeEvent[] })[outdated] ?? null;
}

/** Returns the events that a chunk was made of; null: it was made otherwise, or changed. */
export function nativeEventsOf(chunk: object): readonly NativeEvent[] | null {
  return (chunk as { [events]?: readonly NativeEvent[] })[events] ?? null;
}

/** Returns the message of a complete response, with the body of the response that it was made of. */
export function withNativeBody<Message extends object>(message: Message, made: NativeObject): Message {
  bodies.set(message, made);
  return message;
}

/** Takes the body away from a message that no longer says the same. */
export function dropNativeBody(message: object): void {
  bodies.delete(message);
}

/** Returns the body of the response that a message was made of; null: it was made otherwise. */
export function nativeBodyOf(message: object): NativeObject | null {
  return bodies.get(message) ?? null;
}
