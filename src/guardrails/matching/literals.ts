import type { LiteralMatcher } from './matcher.ts';

/** @param ignoresCase  true: upper and lower case are the same */
export function literalMatcher(literal: string, ignoresCase: boolean): LiteralMatcher {
  return { kind: 'literal', literal, ignoresCase };
}

/** A text to search for, with the number of its pattern. */
export interface NumberedLiteral {
  readonly literal: string;
  readonly by: number;
}

const root = 0;
/** More than any code of a character. */
const codes = 65_536;

/**
 * Finds any number of literals in one pass, by the algorithm of Aho and Corasick: the cost of a character does not
 * depend on the number of literals.
 */
export class LiteralSet {
  readonly #ignoresCase: boolean;
  /** By `node * codes + code`: the next node. */
  readonly #next = new Map<number, number>();
  /** By node: the longest end of its text that is another node. */
  readonly #fallback: number[] = [root];
  readonly #depth: number[] = [0];
  /** By node: the number of characters before it that may be the beginning of an incomplete literal. */
  readonly #open: number[] = [0];
  /** By node: the literals that end there. */
  readonly #ends: NumberedLiteral[][] = [[]];
  /** By node: the nearest node on the way back at which a literal ends; the root: none. */
  readonly #shorter: number[] = [root];
  /** By ASCII code: 1 if a literal begins with the character. Most characters of most texts begin none. */
  readonly #begins = new Uint8Array(128);

  constructor(literals: readonly NumberedLiteral[], ignoresCase: boolean) {
    this.#ignoresCase = ignoresCase;
    for (const one of literals) this.#add(one);
    this.#link();
  }

  /** The number of characters before a node that may be the beginning of an incomplete literal. */
  openAt(node: number): number {
    return this.#open[node] as number;
  }

  /**
   * Continues the search with more text.
   * @param node   the node after the text before
   * @param found  called for every literal that ends at a place, the longest first
   * @returns the node after this text
   */
  walk(text: string, from: number, node: number, found: (one: NumberedLiteral, end: number) => void): number {
    let at = node;
    for (let place = from; place < text.length; place++) {
      const code = this.#codeAt(text, place);
      if (at === root && code < 128 && this.#begins[code] === 0) continue;
      at = this.#behind(at, code);
      let ending = (this.#ends[at] as NumberedLiteral[]).length > 0 ? at : (this.#shorter[at] as number);
      while (ending !== root) {
        for (const one of this.#ends[ending] as NumberedLiteral[]) found(one, place + 1);
        ending = this.#shorter[ending] as number;
      }
    }
    return at;
  }

  #add(one: NumberedLiteral): void {
    let node = root;
    for (let place = 0; place < one.literal.length; place++) {
      const code = this.#codeAt(one.literal, place);
      if (node === root && code < 128) this.#begins[code] = 1;
      const edge = node * codes + code;
      let next = this.#next.get(edge);
      if (next === undefined) {
        next = this.#depth.length;
        this.#next.set(edge, next);
        this.#depth.push((this.#depth[node] as number) + 1);
        this.#open.push(0);
        this.#ends.push([]);
        this.#fallback.push(root);
        this.#shorter.push(root);
      }
      node = next;
    }
    this.#ends[node]?.push(one);
  }

  /** Links nodes in order of their depth: the fallback of a node has to be known before the node. */
  #link(): void {
    const edges = [...this.#next].sort((a, b) => (this.#depth[a[1]] as number) - (this.#depth[b[1]] as number));
    const goesOn = new Set(edges.map(([edge]) => Math.floor(edge / codes)));
    for (const [edge, node] of edges) {
      const parent = Math.floor(edge / codes);
      const back = parent === root ? root : this.#behind(this.#fallback[parent] as number, edge % codes);
      this.#fallback[node] = back;
      this.#open[node] = (goesOn.has(node) ? this.#depth : this.#open)[goesOn.has(node) ? node : back] as number;
      this.#shorter[node] = (this.#ends[back] as NumberedLiteral[]).length > 0 ? back : (this.#shorter[back] as number);
    }
  }

  #behind(from: number, code: number): number {
    let node = from;
    for (;;) {
      const next = this.#next.get(node * codes + code);
      if (next !== undefined) return next;
      if (node === root) return root;
      node = this.#fallback[node] as number;
    }
  }

  #codeAt(text: string, place: number): number {
    const code = text.charCodeAt(place);
    return this.#ignoresCase ? lowered(code) : code;
  }
}

/** Folds one character by itself: the result of `toLowerCase` for a text may depend on the neighbours. */
function lowered(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  const lower = String.fromCharCode(code).toUpperCase().toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
}
