import { estimateTokenCount } from 'tokenx';

/**
 * The most text of one estimate that is counted, in UTF-16 units: 15 ms. Counting takes 60 ms per million, and a
 * request may have thirty million.
 */
const countedUnits = 256 * 1024;

/**
 * The length of the beginning by which a longer text is estimated. If too little effort is left for that, all counted
 * texts are the measure.
 */
const sampleUnits = 4096;

/** The least tokens per character: too many rather than too few for most languages. */
const leastPerUnit = 1 / 3;

/**
 * Estimates the tokens of texts, with one budget of effort for all of them. A text beyond the budget counts like the
 * counted ones, and as at least one token in three characters.
 */
export class TextCounter {
  #unitsLeft = countedUnits;
  #units = 0;
  #tokens = 0;

  tokensOf(text: string): number {
    if (text.length <= this.#unitsLeft) return this.#count(text);
    if (this.#unitsLeft < sampleUnits) return this.#like(text.length);
    const perUnit = this.#count(text.slice(0, sampleUnits)) / sampleUnits;
    return Math.ceil(text.length * Math.max(perUnit, leastPerUnit));
  }

  #count(text: string): number {
    const tokens = estimateTokenCount(text);
    this.#unitsLeft -= text.length;
    this.#units += text.length;
    this.#tokens += tokens;
    return tokens;
  }

  /** Counts an object or a list, written as JSON. Skips numbers, flags, and words such as `auto`: they are settings. */
  tokensOfJson(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 0;
    const units = unitsOfJson(value);
    return units > this.#unitsLeft ? this.#like(units) : this.tokensOf(JSON.stringify(value));
  }

  #like(units: number): number {
    const perUnit = this.#units < sampleUnits ? 0 : this.#tokens / this.#units;
    return Math.ceil(units * Math.max(perUnit, leastPerUnit));
  }
}

/** The rough length of a value as JSON, without writing it: long values are long because of their texts. */
function unitsOfJson(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'object': {
      if (value === null) return 4;
      let units = 2;
      if (Array.isArray(value)) for (const item of value) units += unitsOfJson(item) + 1;
      else for (const key in value) units += key.length + 4 + unitsOfJson((value as Record<string, unknown>)[key]);
      return units;
    }
    default:
      return 5;
  }
}
