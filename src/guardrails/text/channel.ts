import type { Findings } from './findings.ts';
import type { Pausing, Work } from './pace.ts';
import type { CompiledPattern, SplitPatterns } from './patterns.ts';
import { Scanner } from './scanner.ts';
import type { Texts } from './texts.ts';

/** One text of a response that comes in pieces, such as the content of a choice. */
export interface TextChannel {
  /** @returns the text that is released now */
  push(text: string): Work<string>;
  /** Ends the text. @returns the text that was held back */
  end(): Work<string>;
}

/** A text that is JSON. It is checked only when it is complete, since an escape could hide a match. */
export class WholeText implements TextChannel {
  readonly #texts: Texts;
  readonly #holds: boolean;
  #text = '';

  /** @param holds  false: the text never changes, so it is sent at once */
  constructor(texts: Texts, holds: boolean) {
    this.#texts = texts;
    this.#holds = holds;
  }

  // biome-ignore lint/correctness/useYield: as every channel
  *push(text: string): Work<string> {
    this.#text += text;
    return this.#holds ? '' : text;
  }

  *end(): Work<string> {
    const left = yield* this.#texts.text(this.#text);
    return this.#holds ? left : '';
  }
}

/** A text that is released as soon as it is certain that it may pass. */
export class Channel implements TextChannel {
  readonly #acting: Scanner<CompiledPattern> | null;
  readonly #flagging: Scanner<CompiledPattern> | null;
  #isChanged = false;

  /** @param refuse  throws, if a blocking pattern was found */
  constructor({ acting, flagging }: SplitPatterns, findings: Findings, refuse: () => void, pausing: Pausing) {
    const note = (pattern: CompiledPattern, isTooMany: boolean) => {
      findings.note(pattern, isTooMany);
      if (pattern.action === 'flag') return;
      this.#isChanged = true;
      refuse();
    };
    this.#acting = acting.length === 0 ? null : new Scanner(acting, note, pausing);
    this.#flagging = flagging.length === 0 ? null : new Scanner(flagging, note, pausing);
  }

  /** @returns the text that is released now */
  *push(text: string): Work<string> {
    if (this.#flagging !== null) yield* this.#flagging.push(text);
    return this.#acting === null ? text : yield* this.#acting.push(text);
  }

  /** Ends the text. @returns the text that was held back */
  *end(): Work<string> {
    if (this.#flagging !== null) yield* this.#flagging.end();
    return this.#acting === null ? '' : yield* this.#acting.end();
  }

  /** true: some text is held back. */
  get holds(): boolean {
    return this.#acting?.holds === true;
  }

  /** true: some text was redacted. */
  get isChanged(): boolean {
    return this.#isChanged;
  }
}
