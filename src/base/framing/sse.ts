import { EventFramer } from '../http/sse.ts';
import { isBracket, startOfText } from './first-bytes.ts';
import type { Framing } from './framing.ts';

const longestFieldName = 'event:'.length;

/** The sentinel on a line of its own. In JSON no line begins so: line ends inside its strings are escaped. */
const sentinel = /(?:^|[\r\n])data: ?\[DONE\]/;
const sentinelBytes = 'xdata: [DONE]'.length;

/** Server-sent events, with the sentinel `[DONE]` that chat completions end with. */
export const serverSentEvents: Framing = {
  name: 'sse',
  framer: (maxEventBytes) => new EventFramer(maxEventBytes),
  // A stream of events never starts with the first character of JSON or HTML.
  recognises(start, isAll) {
    if (isBracket(start.charCodeAt(0))) return false;
    if (!isAll && start.length < longestFieldName && !start.includes(':')) return null;
    return /^\s*(?:(?:data|event|id|retry)\s*)?:/.test(start);
  },
  endWatch() {
    let isJson: boolean | null = null;
    let decoder: TextDecoder | null = null;
    let tail = '';
    return (bytes) => {
      if (isJson === null) {
        const first = bytes[startOfText(bytes)];
        if (first !== undefined) isJson = isBracket(first);
      }
      if (isJson === true) return false;
      decoder ??= new TextDecoder('latin1');
      const text = tail + decoder.decode(bytes);
      tail = text.slice(-sentinelBytes);
      return sentinel.test(text);
    };
  },
};
