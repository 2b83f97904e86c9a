import { JsonError, parseJson } from '../../base/json.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { BodyLimits } from '../body.ts';
import { type FrameError, invalid, Refused } from './frames.ts';
import type { Turn } from './lane.ts';

/** A frame of a client, checked. */
export type ClientFrame =
  | { type: 'response.create'; streamId: string | null; turn: Turn }
  | { type: 'response.steer'; fields: Loose; size: number }
  /** Agents tell that they have read a response: nothing follows from it. */
  | { type: 'response.processed' };

/** The fields of a `response.create` that are no fields of the request. */
const ofFrame: readonly string[] = ['type', 'stream_id', 'previous_response_id', 'generate', 'stream'];

/** Reads a frame. @throws Refused */
export function readFrame(data: unknown, limits: BodyLimits): ClientFrame {
  if (typeof data !== 'string') throw new Refused(invalid('Frames are JSON as text; this one is binary'), null);
  const fields = objectIn(data, limits);
  const { type, stream_id: streamId = null } = fields;
  if (type === 'response.processed') return { type };
  if (type === 'response.steer') return { type, fields, size: data.length };
  if (streamId !== null && (typeof streamId !== 'string' || !/^[\w.:-]{1,128}$/.test(streamId)))
    throw new Refused(invalid('stream_id: expected 1 to 128 letters, digits and . : _ -', 'stream_id'), null);
  if (type !== 'response.create') {
    const expected = 'type: expected "response.create", "response.steer" or "response.processed"';
    throw new Refused(invalid(expected, 'type'), streamId);
  }
  return { type, streamId, turn: turnOf(fields, streamId, data.length) };
}

function objectIn(text: string, { bytes, depth, values }: BodyLimits): Loose {
  if (text.length > bytes) throw new Refused(tooLarge(`The frame is larger than ${bytes} bytes`), null);
  try {
    const value = parseJson(text, depth, values);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const message = `The frame is ${error.message}`;
    throw new Refused(error.isTooLarge ? tooLarge(message) : invalid(message), null);
  }
  throw new Refused(invalid('The frame is not a JSON object'), null);
}

function tooLarge(message: string): FrameError {
  return { status: 413, code: 'payload_too_large', message, param: null };
}

/** Tells whether a request goes on from a conversation of the store, and adds to it. */
export function ofConversation({ conversation }: Loose): boolean {
  return conversation !== undefined && conversation !== null;
}

function turnOf(fields: Loose, streamId: string | null, size: number): Turn {
  const { previous_response_id: previousId = null, generate = true, stream = true, input } = fields;
  const refuse = (message: string, param: string) => new Refused(invalid(`${param}: ${message}`, param), streamId);
  if (previousId !== null && typeof previousId !== 'string') throw refuse('expected a text', 'previous_response_id');
  if (typeof generate !== 'boolean') throw refuse('expected true or false', 'generate');
  if (stream !== true) throw refuse('a connection always streams; leave it out', 'stream');
  if (ofConversation(fields)) {
    if (previousId !== null)
      throw refuse('goes on from another place than previous_response_id; send one of the two', 'conversation');
    if (!generate)
      throw refuse(
        'false prepares no response of a conversation; add items with POST /conversations/{id}/items',
        'generate',
      );
  }
  // Without an earlier response, the operation checks the input.
  const isInput = input === undefined || input === null || typeof input === 'string' || Array.isArray(input);
  if (previousId !== null && !isInput) throw refuse('expected a text or a list of items', 'input');
  const body = Object.fromEntries(Object.entries(fields).filter(([name]) => !ofFrame.includes(name)));
  return { body, previousId, generates: generate, size, steers: [] };
}
