import type { PricedKind } from '../../call/model.ts';
import { mediaTokens } from '../../pricing/media-tokens.ts';
import { mostBytesPerToken } from '../../pricing/plausible.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import { TextCounter } from '../../pricing/text-counter.ts';
import { type Effort, jsonBound, newEffort, textBound } from '../../pricing/token-bound.ts';

/** The tokens of the marks around an item. */
const tokensPerItem = 16;
/** A task that is written before the text, such as `search_query: `. */
const tokensPerInstruction = 64;

/** Counts the items of a task: the most, the least and the usual number of tokens. */
export class ItemCounter {
  readonly #effort: Effort = newEffort();
  readonly #counter = new TextCounter();

  text(text: string): ItemCount {
    const most = textBound(text, this.#effort) + tokensPerItem + tokensPerInstruction;
    return new ItemCount(most, Math.floor(text.length / mostBytesPerToken), this.#counter.tokensOf(text), noKinds, 0);
  }

  tokens(tokens: readonly number[]): ItemCount {
    return new ItemCount(tokens.length + tokensPerItem, tokens.length > 0 ? 1 : 0, tokens.length, noKinds, 0);
  }

  parts(parts: readonly { readonly [field: string]: unknown }[]): ItemCount {
    let most = tokensPerItem + tokensPerInstruction;
    let least = 0;
    let typical = 0;
    let images = 0;
    const kinds = new Set<PricedKind>();
    for (const part of parts) {
      for (const [field, value] of Object.entries(part)) {
        if (field === 'type' || value === null || value === undefined) continue;
        const media = mediaTokens(nameOfMedium(field), value);
        if (media !== null) {
          most += media.most;
          typical += media.typical;
          for (const kind of media.kinds) kinds.add(kind);
          if (field === 'image_url') images++;
        } else if (typeof value === 'string') {
          most += textBound(value, this.#effort);
          least += Math.floor(value.length / mostBytesPerToken);
          typical += this.#counter.tokensOf(value);
        } else most += jsonBound(value, this.#effort);
      }
    }
    return new ItemCount(most, least, typical, kinds, images);
  }
}

/** The field of a chat message that holds the same medium. */
function nameOfMedium(field: string): string {
  if (field === 'input_video') return 'video_url';
  return field === 'input_file' ? 'file' : field;
}

const noKinds: ReadonlySet<PricedKind> = new Set();

/** The tokens of an item. A class, as there may be thousands: docs/performance.md, "Classes instead of literals". */
export class ItemCount {
  readonly most: number;
  readonly least: number;
  readonly typical: number;
  readonly kinds: ReadonlySet<PricedKind>;
  readonly images: number;

  constructor(most: number, least: number, typical: number, kinds: ReadonlySet<PricedKind>, images: number) {
    this.most = most;
    this.least = least;
    this.typical = typical;
    this.kinds = kinds;
    this.images = images;
  }
}

/** Returns the bound of several items together. */
export function boundOfItems(counts: readonly ItemCount[], units: TaskBound['units'] = {}): TaskBound {
  const bound = { tokens: 0, leastTokens: 0, typicalTokens: 0, kinds: new Set<PricedKind>(), images: 0, units };
  for (const { most, least, typical, kinds, images } of counts) {
    bound.tokens += most;
    bound.leastTokens += least;
    bound.typicalTokens += typical;
    bound.images += images;
    for (const kind of kinds) bound.kinds.add(kind);
  }
  // Every provider counts at least one token.
  bound.leastTokens = Math.max(bound.leastTokens, 1);
  return bound;
}
