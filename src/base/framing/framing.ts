/** What one frame of a stream holds. */
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
  /** Where the current frame starts in `buffer`. */
  readonly start: number;
  /** Where the current frame ends. The next one starts here. */
  readonly end: number;
  /** Where the valid bytes of `buffer` end. */
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
  /** Lets go of memory that holds nothing any more. */
  release(): void;
}

/** How a stream is cut into events. A framing knows nothing of what an event means: that is the dialect's. */
export interface Framing {
  /** Name of the framing. */
  name: string;
  /** A framer for one stream. */
  framer(maxEventBytes: number): Framer;
  /**
   * Whether a body is a stream of this framing. The content type is often wrong, so the first bytes decide.
   * @param start   how the body starts, behind white space: each byte one character, or the text itself; may be the
   *                complete body
   * @param isAll   no more bytes will come
   * @returns null: more bytes are needed to tell
   */
  recognises(start: string, isAll: boolean): boolean | null;
  /**
   * For a body that was asked for as JSON: watches its bytes, and says true once they are a stream of this framing
   * whose end has been said. The upstream may keep the connection open then.
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

/** For framings whose streams say their end by ending. */
export function endsByEnding(): () => boolean {
  return () => false;
}
