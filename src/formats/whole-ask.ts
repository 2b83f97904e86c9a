import { type Ask, askOf } from '../call/ask.ts';
import type { Native, WholeRequest } from '../call/native.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { Leftover } from './leftover.ts';

/** A request of a wire format whose body goes on as it came to an upstream of the same format. */
interface Whole
  extends Pick<Native, 'format'>,
    Pick<WholeRequest, 'body' | 'left' | 'items' | 'tools' | 'hostedTools' | 'fields'> {
  /** The chat request that was made of it. */
  readonly chat: ChatRequest;
  /** The place in the caller's list of each message of the chat request; -1: in its instructions. */
  readonly places: readonly number[];
  readonly leftover: Leftover;
  /** Headers of the caller that belong to the body. Absent: none. */
  readonly headers?: WholeRequest['headers'];
  /** Returns the place in the caller's request that a place in the chat request was made of. */
  pathOf(places: readonly number[], path: string): string;
}

/** Makes the request of a wire format whose upstreams get the body as it came, and others a chat request. */
export function wholeAsk({ format, chat, places, leftover, body, left, headers = {}, pathOf, ...parts }: Whole): Ask {
  const native: Native = {
    format,
    ...parts,
    input: [],
    instructionsAt: places[0] === -1 ? 0 : null,
    toolChoice: null,
    include: [],
    dropped: leftover.list(),
    onlyNative: leftover.needed,
    toolMedia: [],
    callForms: new Map(),
    purpose: 'respond',
    pathOf: (_, __, path) => pathOf(places, path),
    whole: { ...parts, body, ...(left === undefined ? {} : { left }), request: chat, headers },
  };
  return askOf(chat, native);
}
