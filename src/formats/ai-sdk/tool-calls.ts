import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { withNotes } from './notes.ts';
import type { StreamPart } from './types.ts';

interface Call {
  id: string;
  name: string;
  text: string;
  /** true: its block is open. */
  isOpen: boolean;
  /** true: its block was open. */
  hasEnded: boolean;
}

/** The calls of one response, whose fragments may come in turns. */
export interface OpenCalls {
  add(fragment: Loose): StreamPart[];
  /** Completes all calls. @param notes  go back with the first of them */
  finish(notes: Loose): StreamPart[];
  /** Closes the blocks, without a complete call. */
  abandon(): StreamPart[];
  count(): number;
}

export function openCalls(): OpenCalls {
  const calls = new Map<number, Call>();
  const ids = new Set<string>();

  function newId(given: unknown, index: number): string {
    let id = typeof given === 'string' && given !== '' ? given : `call_${index}`;
    // The AI SDK tells calls apart by their ids alone.
    while (ids.has(id)) id = `${id}_${index}`;
    ids.add(id);
    return id;
  }

  function open(call: Call): StreamPart[] {
    if (call.isOpen || call.hasEnded || call.name === '') return [];
    call.isOpen = true;
    const start: StreamPart = { type: 'tool-input-start', id: call.id, toolName: call.name };
    return call.text === '' ? [start] : [start, { type: 'tool-input-delta', id: call.id, delta: call.text }];
  }

  function end(call: Call): StreamPart[] {
    if (!call.isOpen) return [];
    call.isOpen = false;
    call.hasEnded = true;
    return [{ type: 'tool-input-end', id: call.id }];
  }

  return {
    add(fragment) {
      const index = isIndex(fragment.index) ? fragment.index : 0;
      const { name, arguments: text } = isObject(fragment.function) ? fragment.function : {};
      let call = calls.get(index);
      if (call === undefined) {
        call = { id: newId(fragment.id, index), name: '', text: '', isOpen: false, hasEnded: false };
        calls.set(index, call);
      }
      const more = typeof text === 'string' ? text : '';
      call.text += more;
      if (call.isOpen) return more === '' ? [] : [{ type: 'tool-input-delta', id: call.id, delta: more }];
      if (typeof name === 'string') call.name += name;
      // A name may come in pieces. It is complete when the arguments begin.
      return call.text === '' ? [] : open(call);
    },
    finish(notes) {
      const named = [...calls].sort(([one], [other]) => one - other).filter(([, { name }]) => name !== '');
      return [
        ...named.flatMap(([, call]) => [...open(call), ...end(call)]),
        ...named.map(
          ([, { id, name, text }], at): StreamPart => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: text.trim() === '' ? '{}' : text,
            ...(at === 0 ? withNotes(notes) : {}),
          }),
        ),
      ];
    },
    abandon: () => [...calls.values()].flatMap(end),
    count: () => [...calls.values()].filter(({ name }) => name !== '').length,
  };
}
