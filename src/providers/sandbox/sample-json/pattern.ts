/** The parts of a pattern that the sandbox can write. */
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'choice'; options: Node[] }
  | { kind: 'sequence'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number };

const escapes: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  t: '\t',
  n: '\n',
  r: '\r',
};
/** Characters to try for a negated class. */
const ordinary = ['a', '0', '-', ' ', 'A', '_', 'é'];
const longest = 1_000;
/** The most nodes to write: repeats of an empty text multiply without making the text longer. */
const maxSteps = 20_000;

/**
 * A text that fits a regular expression, made by reading the expression and never by running it: it comes from a
 * caller and may be built to run forever.
 * @param length  between `min` and `max` characters
 * @returns null where the expression uses more than literals, classes, groups, alternatives, quantifiers and
 *          anchors at its ends, or where no text of that length was found
 */
export function samplePattern(pattern: string, length: { min: number; max: number }): string | null {
  const node = pattern.length <= longest ? readPattern(pattern) : null;
  if (!node) return null;
  const steps = { left: maxSteps };
  for (let extra = 0; extra <= Math.min(length.min, longest) && steps.left > 0; extra += 1) {
    const text = write(node, extra, steps);
    if (text.length > Math.min(length.max, longest) || steps.left <= 0) return null;
    if (text.length >= length.min) return text;
  }
  return null;
}

function write(node: Node, extra: number, steps: { left: number }): string {
  steps.left -= 1;
  if (node.kind === 'text') return node.text;
  if (node.kind === 'choice') return write(node.options[0] ?? { kind: 'text', text: '' }, extra, steps);
  const nodes = node.kind === 'sequence' ? node.nodes : [node.node];
  const times = node.kind === 'sequence' ? 1 : Math.min(node.max, node.min + extra);
  let text = '';
  for (let time = 0; time < times; time += 1) {
    for (const inner of nodes) {
      // Nested repeats multiply; beyond the longest text the result is refused anyway.
      if (text.length > longest || steps.left <= 0) return text;
      text += write(inner, extra, steps);
    }
  }
  return text;
}

/** @returns null: the expression has parts that the sandbox does not read */
function readPattern(pattern: string): Node | null {
  const source = pattern.replace(/^\^/, '').replace(/(^|[^\\])\$$/, '$1');
  // Anchors elsewhere, as in `a|^b`, are found below as signs that the sandbox does not read.
  let at = 0;

  function alternatives(depth: number): Node | null {
    if (depth > 20) return null;
    const options: Node[] = [];
    do {
      const nodes: Node[] = [];
      while (at < source.length && source[at] !== '|' && source[at] !== ')') {
        const node = quantified(depth);
        if (!node) return null;
        nodes.push(node);
      }
      options.push({ kind: 'sequence', nodes });
    } while (source[at] === '|' && ++at);
    return { kind: 'choice', options };
  }

  function quantified(depth: number): Node | null {
    const node = atom(depth);
    if (!node) return null;
    const match = /^(?:[*+?]|\{(\d{1,4})(,(\d{0,4}))?\})\??/.exec(source.slice(at, at + 16));
    if (!match) return node;
    at += match[0].length;
    const sign = match[0][0];
    const min = sign === '+' ? 1 : sign === '{' ? Number(match[1]) : 0;
    const max =
      sign === '?'
        ? 1
        : sign === '{'
          ? match[2] === undefined
            ? min
            : match[3]
              ? Number(match[3])
              : Infinity
          : Infinity;
    return max >= min ? { kind: 'repeat', node, min, max } : null;
  }

  function atom(depth: number): Node | null {
    const sign = source[at];
    if (sign === '[') return characterClass();
    if (sign === '\\') return escaped();
    if (sign === '(') {
      const open = /^\((?:\?:|\?<[A-Za-z]\w*>|(?!\?))/.exec(source.slice(at, at + 80));
      if (!open) return null;
      at += open[0].length;
      const node = alternatives(depth + 1);
      return node && source[at++] === ')' ? node : null;
    }
    if (sign === undefined || '^$*+?{}'.includes(sign)) return null;
    const text = String.fromCodePoint(source.codePointAt(at) ?? 0);
    at += text.length;
    return { kind: 'text', text: text === '.' ? 'a' : text };
  }

  function escaped(): Node | null {
    const sign = source[at + 1];
    if (sign === undefined) return null;
    at += 2;
    if (escapes[sign] !== undefined) return { kind: 'text', text: escapes[sign] };
    return /[A-Za-z0-9]/.test(sign) ? null : { kind: 'text', text: sign };
  }

  function characterClass(): Node | null {
    let end = at + 1;
    while (end < source.length && source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
    if (end >= source.length) return null;
    const inside = source.slice(at + 1, end);
    at = end + 1;
    // Codes, properties and control signs mean characters that are not looked up here.
    if (/\\[^dDwWsStnr\W]/.test(inside)) return null;
    if (inside.startsWith('^')) {
      const free = ordinary.find((sign) => !holds(inside.slice(1), sign));
      return free === undefined ? null : { kind: 'text', text: free };
    }
    const first = inside.startsWith('\\') ? (inside[1] ?? '') : inside;
    if (first === '') return null;
    const known = inside.startsWith('\\') ? escapes[first] : undefined;
    return { kind: 'text', text: known ?? String.fromCodePoint(first.codePointAt(0) ?? 0) };
  }

  const node = alternatives(0);
  return node && at === source.length ? node : null;
}

/** Tells whether a character class, by its inside, contains a sign: classes, ranges and single signs. */
function holds(inside: string, sign: string): boolean {
  const classes: Readonly<Record<string, RegExp>> = { d: /\d/, w: /\w/, s: /\s/, D: /\D/, W: /\W/, S: /\S/ };
  for (let at = 0; at < inside.length; at += 1) {
    if (inside[at] === '\\') {
      at += 1;
      const known = classes[inside[at] ?? ''];
      if (known ? known.test(sign) : inside[at] === sign) return true;
    } else if (inside[at + 1] === '-' && at + 2 < inside.length) {
      if (sign >= (inside[at] ?? '') && sign <= (inside[at + 2] ?? '')) return true;
      at += 2;
    } else if (inside[at] === sign) return true;
  }
  return false;
}
