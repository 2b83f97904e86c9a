import type { Loose } from '../../base/values.ts';

/** Input that a client sent while a response was made: the next response begins with it. */
export interface Steer {
  /** `steer_…`. */
  id: string;
  /** The response that was being made. */
  responseId: string;
  /** The input as it was sent. */
  input: unknown;
  /** Its characters. */
  size: number;
}

/** One `response.create` that was read, and waits for its turn. */
export interface Turn {
  /** The fields of the request, without those of the frame. */
  body: Loose;
  previousId: string | null;
  /** false: prepares the conversation, and asks no model. */
  generates: boolean;
  /** The characters of the frame. */
  size: number;
  /** Input of `response.steer` that this turn takes up by itself; []: the client sent the turn. */
  steers: readonly Steer[];
}

/** The frame of a turn that waits, as text: its objects may take fifteen times as much. It was checked. */
export interface WaitingFrame {
  text: string;
  /** Its characters. */
  size: number;
  steers: readonly Steer[];
}

/** A response that is being made. */
export interface Flight {
  turn: Turn;
  /** The id of the response, once it is known. */
  responseId: string | null;
  /** Input that has come meanwhile. */
  steers: Steer[];
  /** Added to the numbers of the events: so many events of the session came between them. */
  shift: number;
  /** The last event that was sent, as text: its number is needed only where the session has something to say. */
  lastEvent: string;
  /** Stops the call: the client has left. */
  leave: () => void;
  /** Ends the call: the host stops. */
  cut: () => void;
  /** true: the frame that ends it was sent. */
  hasEnded: boolean;
}

/** A queue of turns, of which one is served at a time. A client names lanes by `stream_id`. */
export interface Lane {
  /** null: the lane of frames without a `stream_id`. */
  streamId: string | null;
  waiting: (Turn | WaitingFrame)[];
  flight: Flight | null;
  /** The latest response, which the next turn may go on from. */
  latest: string | null;
}
