import type { Loose } from '../../base/values.ts';
import type { ReportedEnd, ResponseHead } from '../../call/response-encoder.ts';
import type { JoinedPart } from '../../formats/completions/encoder.ts';
import { sumUsage } from '../../pricing/sum-usage.ts';

/** The responses to several prompts, which come as one. */
export class JoinedTexts {
  readonly #brand: string;
  readonly #ends: (Loose & { usage: ReportedEnd['usage'] })[] = [];
  #missing: number;
  #failedAt: number | null = null;
  /** `gen-…`, as the client sees it. */
  id = '';

  constructor(brand: string, prompts: number) {
    this.#brand = brand;
    this.#missing = prompts;
  }

  /** The number of the first prompt whose response has failed; null: none has. */
  get failedAt(): number | null {
    return this.#failedAt;
  }

  /**
   * Returns the place of the response to a prompt.
   * @param texts   the texts of each prompt
   * @param begins  called when there is something of it
   */
  part(prompt: number, texts: number, begins: () => void): JoinedPart {
    const idOf = () => this.id;
    return {
      get id() {
        return idOf();
      },
      prompt,
      texts,
      firstIndex: prompt * texts,
      begins,
      ended: (head, end) => this.#ended(prompt, head, end),
      failed: () => {
        this.#failedAt ??= prompt;
      },
    };
  }

  #ended(prompt: number, { id, model, provider }: ResponseHead, { usage, metadata }: ReportedEnd): Loose | null {
    const route = metadata === undefined ? {} : { [`${this.#brand}_metadata`]: metadata };
    this.#ends[prompt] = { id, model, provider, usage, ...route };
    this.#missing--;
    if (this.#missing > 0 || this.#failedAt !== null) return null;
    return { usage: sumUsage(this.#ends.map((one) => one.usage)), prompts: this.#ends };
  }
}
