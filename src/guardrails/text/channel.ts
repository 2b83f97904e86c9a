import type { Findings } from './findings.ts';
import type { CompiledPattern, SplitPatterns } from './patterns.ts';
import { Scanner } from './scanner.ts';

/** One text of a response that comes in pieces, such as the content of a choice. */
export class Channel {
  readonly #acting: Scanner<CompiledPattern> | null;
  readonly #flagging: Scanner<CompiledPattern> | null;
  #isChanged = false;

  /** @param refuse  throws, where a pattern was found that blocks */
  constructor({ acting, flagging }: SplitPatterns, findings: Findings, refuse: () => void) {
    const note = (pattern: CompiledPattern, isTooMany: boolean) => {
      findings.note(pattern, isTooMany);
      if (pattern.action === 'flag') return;
      this.#isChanged = true;
      refuse();
    };
    this.#acting = acting.length === 0 ? null : new Scanner(acting, note);
    this.#flagging = flagging.length === 0 ? null : new Scanner(flagging, note);
  }

  /** @returns what is released now */
  push(text: string): string {
    this.#flagging?.push(text);
    return this.#acting === null ? text : this.#acting.push(text);
  }

  /** No more text comes. @returns what was held back */
  end(): string {
    this.#flagging?.end();
    return this.#acting === null ? '' : this.#acting.end();
  }

  /** Whether something is held back. */
  get holds(): boolean {
    return this.#acting?.holds === true;
  }

  /** Whether something was redacted. */
  get isChanged(): boolean {
    return this.#isChanged;
  }
}
