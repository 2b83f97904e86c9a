import { estimateTokenCount } from 'tokenx';

/**
 * How much text of one estimate is counted, in UTF-16 units: 15 ms. Counting takes 60 ms per million, and a request may
 * hold thirty.
 */
const countedUnits = 256 * 1024;

/**
 * What a text that is too long is judged by: its beginning, and where too little is left for that, all that was
 * counted.
 */
const sampleUnits = 4096;

/** A token for every three characters: rather too many than too few for most languages. */
const leastPerUnit = 1 / 3;

/**
 * Estimates the tokens of texts, with one budget for all of them. What is beyond it is taken to be like what was
 * counted, and to have at least one token in three characters.
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

  /** Of an object or a list, written as JSON. Skips numbers, flags, and words such as `auto`: they are settings. */
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

/** Roughly how long a value is as JSON, without writing it: what is long is in its texts. */
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
