import type { ChunkToolCall } from '../../schema/chat/chunk.ts';
import type { Work } from './pace.ts';

/**
 * Keeps names and ids of the calls of a stream until they are complete: clients join the pieces of a name. A name is
 * complete when the arguments of its call come without one, when another call begins, or when something else comes.
 */
export class CallHeads {
  readonly #open = new Map<number, ChunkToolCall>();
  /** The names that were announced so far. */
  readonly #announced = new Map<number, string>();
  readonly #look: (name: string) => Work<void>;

  /** @param look  checks the whole name, if it goes on after it was announced */
  constructor(look: (name: string) => Work<void>) {
    this.#look = look;
  }

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** @returns the calls whose names are complete now, with empty arguments */
  *push(call: ChunkToolCall): Work<ChunkToolCall[]> {
    const piece = withoutArguments(call);
    const isMore =
      Object.keys(piece).some((key) => key !== 'index' && key !== 'function') || hasMembers(piece.function);
    if (!isMore) return yield* this.rest();
    const whole = this.#open.has(call.index) ? [] : yield* this.rest();
    const before = this.#open.get(call.index);
    this.#open.set(call.index, before === undefined ? piece : joined(before, piece));
    return whole;
  }

  /** The calls that are still open: nothing more of them comes. */
  *rest(): Work<ChunkToolCall[]> {
    for (const [index, { function: named }] of this.#open) yield* this.#note(index, named?.name ?? '');
    const heads = [...this.#open.values()].map((head) => ({ ...head, function: { ...head.function, arguments: '' } }));
    this.#open.clear();
    return heads;
  }

  *#note(index: number, name: string): Work<void> {
    const before = this.#announced.get(index) ?? '';
    if (before !== '' && name !== '') yield* this.#look(before + name);
    this.#announced.set(index, before + name);
  }
}

/** The call as it is announced. */
export function withoutArguments(call: ChunkToolCall): ChunkToolCall {
  if (call.function === undefined) return call;
  const { arguments: _arguments, ...named } = call.function;
  return { ...call, function: named };
}

function hasMembers(named: ChunkToolCall['function']): boolean {
  return named !== undefined && Object.values(named).some((value) => value !== '' && value !== undefined);
}

function joined(before: ChunkToolCall, piece: ChunkToolCall): ChunkToolCall {
  const name = `${before.function?.name ?? ''}${piece.function?.name ?? ''}`;
  return { ...before, ...piece, function: { ...before.function, ...piece.function, ...(name ? { name } : {}) } };
}
