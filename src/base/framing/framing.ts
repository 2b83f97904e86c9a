/** The content of one frame of a stream. */
export interface FrameEvent {
  /** The payload as text. */
  data: string;
  /** The frame's name for its payload, '' without one. */
  name: string;
}

/**
 * Cuts a byte stream into frames as the bytes arrive. After `push`, call `next` until it returns false. Each time the
 * frame is `buffer.subarray(start, end)`, valid until the next `push`.
 */
export interface Framer {
  /** Bytes that are not yet an event. */
  readonly buffer: Uint8Array;
  /** The position in `buffer` at which the current frame starts. */
  readonly start: number;
  /** The position at which the current frame ends and the next one starts. */
  readonly end: number;
  /** The position at which the valid bytes of `buffer` end. */
  readonly length: number;
  /** A larger frame is an error. */
  readonly maxEventBytes: number;
  /** Takes more bytes of the stream. */
  push(bytes: Uint8Array): void;
  /**
   * Moves to the next complete frame. false: more bytes are needed.
   * @throws FramingError, EventTooLarge
   */
  next(): boolean;
  /** At the end of the stream: moves to a last frame that lacks only its end mark. false: there is none. */
  last(): boolean;
  /** The content of the current frame; null for a frame without any, such as a comment. @throws FramingError */
  read(): FrameEvent | null;
  /** Moves past complete frames that the caller has dealt with itself. They start at `end`. */
  skipTo(position: number): void;
  /** Frees memory that is not needed any more. */
  release(): void;
}

/** Cuts a stream into events. A framing does not know the meaning of events: the dialect does. */
export interface Framing {
  /** Name of the framing. */
  name: string;
  /** A framer for one stream. */
  framer(maxEventBytes: number): Framer;
  /**
   * Tells whether a body is a stream of this framing. The content type is often wrong, so the first bytes decide.
   * @param start   the start of the body, after white space: each byte one character, or the text itself; may be the
   *                complete body
   * @param isAll   true: no more bytes will come
   * @returns null: more bytes are needed to tell
   */
  recognises(start: string, isAll: boolean): boolean | null;
  /**
   * Makes a watcher for a body that was requested as JSON. The watcher returns true once the bytes are a stream of this
   * framing and its end mark has come. The upstream may keep the connection open after that mark.
   */
  endWatch(): (bytes: Uint8Array) => boolean;
}

/** Bytes that are no stream of the framing. The message completes "The provider's stream broke: ". */
export class FramingError extends Error {}

/** More bytes than allowed without the end of an event. */
export class EventTooLarge extends FramingError {
  constructor(maxEventBytes: number) {
    super(`an event of the stream is larger than ${maxEventBytes} bytes`);
  }
}

/** The watcher for framings without an end mark: the end of the body is the end of the stream. */
export function endsByEnding(): () => boolean {
  return () => false;
}
