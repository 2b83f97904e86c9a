import { Parser } from 'htmlparser2';
import { nextTurn } from '../base/async/next-turn.ts';

/**
 * The costs of reading the article of a page, in about µs each. They were measured with linkedom, Readability and
 * Turndown together, on pages where Readability finds no article and reads the page four times.
 */
const cost = {
  /** For each character of the source. */
  character: 0.15,
  /** For each element: Readability reads it in several passes. */
  element: 90,
  attribute: 20,
  /** For each text or comment; each entity begins a new text. */
  node: 15,
  /**
   * For each element and each of its ancestors: lists of ancestors, and one more pass where these have no text of their
   * own.
   */
  depth: 2,
  depthSquared: 0.06,
  /** For each character of text and each element around it, because the text of each element is read. */
  textDepth: 0.006,
} as const;

/** The characters that one turn of the event loop reads. */
export const pieceCharacters = 65_536;

/**
 * Tells whether reading the article of a page stays within a limit of work. It makes one pass with the tokenizer that
 * the parser uses, so that both see the same elements. It makes no tree, and ends as soon as the limit is passed.
 * @param most  about µs
 */
export async function isWithinWork(html: string, most: number): Promise<boolean> {
  let work = html.length * cost.character;
  if (work > most) return false;
  let depth = 0;
  const parser = new Parser({
    onopentagname() {
      depth++;
      add(cost.element + depth * cost.depth + depth * depth * cost.depthSquared);
    },
    onclosetag() {
      depth--;
    },
    onattribute: () => add(cost.attribute),
    ontext: (text) => add(cost.node + text.length * depth * cost.textDepth),
    oncomment: () => add(cost.node),
    onprocessinginstruction: () => add(cost.node),
  });
  function add(more: number): void {
    work += more;
    if (work > most) parser.pause();
  }
  for (let at = 0; at < html.length && work <= most; at += pieceCharacters) {
    if (at > 0) await nextTurn();
    parser.write(html.slice(at, at + pieceCharacters));
  }
  return work <= most;
}
