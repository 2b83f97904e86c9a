import type { CallWarning } from './types.ts';

/** Collects what of a call is left out. Each is told once. */
export class Warnings {
  readonly #list: CallWarning[] = [];
  readonly #known = new Set<string>();

  /** Adds a feature that has no place in a chat request. */
  unsupported(feature: string, details?: string): void {
    this.#add({ type: 'unsupported', feature, ...(details === undefined ? {} : { details }) });
  }

  other(message: string): void {
    this.#add({ type: 'other', message });
  }

  list(): CallWarning[] {
    return [...this.#list];
  }

  #add(warning: CallWarning): void {
    const key = JSON.stringify(warning);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#list.push(warning);
  }
}

/** A name of the caller for a message. What is no text is not asked for one: an object may refuse, or take its time. */
export function shown(name: unknown): string {
  return typeof name === 'string' ? name.slice(0, 80) : `(${name === null ? 'null' : typeof name})`;
}
