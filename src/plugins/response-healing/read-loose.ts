import { type JsonList, type JsonObject, type JsonTree, maxDepth } from './json-tree.ts';
import { isComment, isQuote, isSpace, readQuoted } from './quoted.ts';
import { fieldsOf, type Guide, itemsOf } from './schema-guide.ts';
import { type Steps, spend } from './steps.ts';
import { wordOf } from './words.ts';

/** The reason why a text could not be read: it ends too early, or it is no JSON at all. */
export type Unread =
  | { cut: 'a string' | 'a name' | 'an escape' | 'a word' | 'a number' | 'a member' | 'a comment' }
  | 'no JSON'
  | 'too deep';

/** The result of reading a text that need not be JSON to the letter. */
export interface Reading {
  tree: JsonTree;
  /** The places where it begins and ends in the text. */
  start: number;
  end: number;
  /** The number of brackets that were put where none stood, or left out. */
  brackets: number;
  /** true: a text without quotation marks counts as a string. */
  hasBareText: boolean;
  /** true: null stands for a value that JSON has no word for, such as NaN. */
  hasStandIn: boolean;
}

/** The cost of the beginning, in characters that are read. */
const stepsOfReading = 60;
/** The cost of making a value, or of taking a bracket off. */
const stepsOfValue = 10;
/** The reader pauses after so many steps. */
const stepsOfPause = 60_000;
/** The most characters of a text without quotation marks. */
const mostBare = 500;

const closers: Readonly<Record<string, string>> = { '}': '{', '｝': '{', ']': '[', '］': '[', ')': '(' };
const openers: Readonly<Record<string, '{' | '[' | '('>> = { '{': '{', '｛': '{', '[': '[', '［': '[', '(': '(' };

interface Frame {
  opener: '{' | '[' | '(';
  node: JsonObject | JsonList;
  /** Puts a value in the place of the node: for `Decimal("1.2")`, the string alone. */
  replace: ((value: JsonTree) => void) | null;
  guide: Guide | null;
}

/**
 * Reads the JSON that begins at a place, as models write it: with comments, without quotation marks, with brackets left
 * out. Adds nothing that the text does not say: a text that ends within a string, a number, a word or a member is not
 * read. Pauses now and then, so that other work has its turn.
 * @param guide    where brackets are missing, a member goes to the object that has one of this name; null: to the last
 *   object
 * @param implied  true: the text begins with the first name; the bracket before it is missing
 */
export function* readLoose(
  text: string,
  start: number,
  guide: Guide | null,
  steps: Steps,
  implied = false,
): Generator<void, Reading | Unread> {
  spend(steps, stepsOfReading);
  let pauseAt = steps.left - stepsOfPause;
  let at = start;
  let brackets = implied ? 1 : 0;
  let hasBareText = false;
  let hasStandIn = false;
  let root: JsonTree | null = null;
  let failed: Unread | null = null;
  const stack: Frame[] = [];

  function isEnd(): boolean {
    if (at >= text.length) return true;
    const code = text.charCodeAt(at);
    return code === 96 ? text.startsWith('```', at) : code === 60 && !isComment(text, at);
  }

  /** Goes on to the next character that is no white space and no comment. */
  function skip(): void {
    const from = at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 96 && code < 127) break;
      if (isSpace(code)) {
        // A quotation of Markdown.
        if (code === 10 && text[at + 1] === '>') at++;
        continue;
      }
      if (code === 92 && 'nrt'.includes(text[at + 1] ?? '-')) at++;
      else if (isComment(text, at)) {
        const end = endOfComment();
        if (end === -1) {
          failed = { cut: 'a comment' };
          at = text.length;
        } else at = end - 1;
      } else break;
    }
    spend(steps, at - from + 1);
  }
  function endOfComment(): number {
    const mark = text.startsWith('/*', at) ? '*/' : text.startsWith('<!--', at) ? '-->' : '\n';
    const end = text.indexOf(mark, at + 2);
    if (end === -1) return mark === '\n' ? text.length : -1;
    return end + mark.length;
  }
  function open(opener: '{' | '[' | '(', replace: Frame['replace'], of: Guide | null): JsonTree | null {
    if (stack.length >= maxDepth) return fail('too deep');
    const node: JsonObject | JsonList = opener === '{' ? { kind: 'object', members: [] } : { kind: 'list', items: [] };
    stack.push({ opener, node, replace, guide: of });
    return node;
  }
  function fail(why: Unread): null {
    failed ??= why;
    return null;
  }
  /** Puts a value where the text has come to. */
  function put(put: (value: JsonTree) => void, of: Guide | null): void {
    const char = text[at];
    if (isEnd()) return void fail(at >= text.length ? { cut: 'a member' } : 'no JSON');
    const opener = openers[char as string];
    if (opener !== undefined) {
      at++;
      const node = open(opener, null, of);
      if (node !== null) put(node);
      return;
    }
    const value = isQuote(char) ? string(stack.at(-1)?.opener === '{' ? 'member' : 'item') : bare(put, of);
    if (value !== null) put(value);
  }
  function string(place: 'member' | 'item'): JsonTree | null {
    const parts: string[] = [];
    for (;;) {
      const read = readQuoted(text, at, place, steps);
      if ('cut' in read) return fail({ cut: read.cut });
      parts.push(read.text);
      at = read.end;
      const before = at;
      skip();
      if (text[at] !== '+') {
        // White space at the end of the text does not belong to the string.
        at = before;
        return { kind: 'string', text: parts.join('') };
      }
      at++;
      skip();
      if (isEnd()) return fail({ cut: 'a string' });
      if (!isQuote(text[at])) return fail('no JSON');
    }
  }
  /** Reads a number, a word, or a text without quotation marks. */
  function bare(put: (value: JsonTree) => void, of: Guide | null): JsonTree | null {
    const from = at;
    while (at < text.length && at - from <= mostBare && !isBareEnd(from)) at++;
    spend(steps, at - from + 1);
    const said = text.slice(from, at).trimEnd();
    if (said === '' || at - from > mostBare) return fail('no JSON');
    const char = text[at];
    if (char !== undefined && isQuote(char) && /^[ubr]$/i.test(said))
      return string(stack.at(-1)?.opener === '{' ? 'member' : 'item');
    if (char === '(' && /^[\w$.]+(?: [\w$.]+)?$/.test(said)) {
      at++;
      open('(', put, of);
      return null;
    }
    spend(steps, stepsOfValue);
    const { raw, isStandIn, isCut } = wordOf(said);
    if (raw !== null && (at < text.length || said.length < at - from)) {
      hasStandIn ||= isStandIn;
      return { kind: 'raw', raw };
    }
    if (at >= text.length || isCut) return fail({ cut: /^[-+.\d]/.test(said) ? 'a number' : 'a word' });
    if (!/^[\p{L}\p{N}$€£_/+.@~-]/u.test(said) || (char !== undefined && isQuote(char))) return fail('no JSON');
    hasBareText = true;
    return { kind: 'string', text: said };
  }
  function isBareEnd(from: number): boolean {
    const char = text[at] as string;
    if (',}]\n{[｝］，()`<'.includes(char) || isQuote(char))
      return !(char === '(' && at > from && text[at - 1] === ' ');
    if (char === ':' || char === '：') return stack.at(-1)?.opener !== '{' && !text.startsWith('://', at);
    return isComment(text, at) && isSpace(text.charCodeAt(at - 1));
  }

  /** Takes the last bracket off. */
  function close(): void {
    const { opener, node, replace } = stack.pop() as Frame;
    if (replace === null) return;
    if (opener !== '(' || node.kind !== 'list' || node.items.length !== 1) return void fail('no JSON');
    replace(node.items[0] as JsonTree);
  }
  function closeDownTo(depth: number): void {
    while (stack.length > depth) {
      brackets++;
      close();
    }
  }

  /** Reads a closing bracket: of the last bracket, of an earlier one, or of none. */
  function readCloser(opener: string): void {
    at++;
    spend(steps, stack.length);
    const depth = stack.findLastIndex((frame) => frame.opener === opener);
    if (depth === -1) {
      brackets++;
      return;
    }
    closeDownTo(depth + 1);
    if (depth === 0 && goesOnAfterRoot()) brackets++;
    else close();
  }
  /** true: a closing bracket that would end everything is one too many. A further member follows. */
  function goesOnAfterRoot(): boolean {
    if (stack[0]?.opener !== '{') return false;
    const before = at;
    skip();
    let goesOn = text[at] === ',';
    if (goesOn) {
      at++;
      skip();
      if (isQuote(text[at])) {
        const name = readQuoted(text, at, 'name', steps);
        at = 'end' in name ? name.end : text.length;
        skip();
        goesOn = text[at] === ':';
      } else goesOn = false;
    }
    at = before;
    return goesOn;
  }

  /** Reads a name and its value. */
  function readMember(): void {
    const opener = openers[text[at] as string];
    if (opener !== undefined) {
      // [{"a":1,{"a":2}]: the object before was not closed.
      const parent = stack.at(-2);
      if (opener !== '{' || parent?.opener !== '[') return void fail('no JSON');
      closeDownTo(stack.length - 1);
      readItem();
      return;
    }
    const isQuoted = isQuote(text[at]);
    const name = readName();
    if (name !== null) readValueOf(name, isQuoted);
  }
  function readName(): string | null {
    if (isQuote(text[at])) {
      const read = readQuoted(text, at, 'name', steps);
      if ('cut' in read) return fail({ cut: read.cut });
      at = read.end;
      return read.text;
    }
    const found = /^[\p{L}\d_$][\p{L}\d_$ .-]{0,99}/u.exec(text.slice(at, at + 200))?.[0];
    spend(steps, (found?.length ?? 0) + 4);
    if (found === undefined) return fail('no JSON');
    at += found.length;
    if (at >= text.length) return fail({ cut: 'a name' });
    return found.trimEnd();
  }
  function readValueOf(name: string, isQuoted: boolean): void {
    skip();
    if (isEnd()) return void fail({ cut: 'a member' });
    if (text[at] === ':' || text[at] === '：') at++;
    else if (text[at] === '=') at += text[at + 1] === '>' ? 2 : 1;
    // "age" 36: the colon alone was left out.
    else if (!isQuoted || !/[\d"{[-]/.test(text[at] as string)) return void fail('no JSON');
    skip();
    const frame = frameFor(name);
    if (frame.node.kind !== 'object') return void fail('no JSON');
    const { members } = frame.node;
    put(
      (value) => void members.push({ name, value }),
      frame.guide === null ? null : (fieldsOf(frame.guide, steps)?.get(name) ?? null),
    );
  }
  /**
   * Returns the object that a member belongs to: the last one, or the one around it that the schema gives such a
   * member.
   */
  function frameFor(name: string): Frame {
    const last = stack.at(-1) as Frame;
    if (last.guide === null || fieldsOf(last.guide, steps)?.has(name) !== false) return last;
    for (let depth = stack.length - 2; depth >= 0; depth--) {
      const { guide: of, node } = stack[depth] as Frame;
      spend(steps, 1);
      if (node.kind !== 'object' || of === null || fieldsOf(of, steps)?.has(name) !== true) continue;
      spend(steps, node.members.length);
      if (node.members.some((member) => member.name === name)) continue;
      closeDownTo(depth + 1);
      break;
    }
    return stack.at(-1) as Frame;
  }

  function readItem(): void {
    const { node, guide: of, opener } = stack.at(-1) as Frame;
    if (node.kind !== 'list') return void fail('no JSON');
    const from = at;
    const depth = stack.length;
    const hadBareText = hasBareText;
    put((value) => void node.items.push(value), of === null || opener === '(' ? null : itemsOf(of, steps));
    if (failed !== null || stack.length !== depth) return;
    const after = at;
    skip();
    if (text[at] !== ':' && text[at] !== '：') {
      at = after;
      return;
    }
    // [1,2,"b":3: the list was not closed before the name.
    const name = node.items.pop();
    const object = stack.findLastIndex((frame) => frame.node.kind === 'object');
    if (name?.kind !== 'string' || object === -1) return void fail('no JSON');
    hasBareText = hadBareText;
    closeDownTo(object + 1);
    readValueOf(name.text, isQuote(text[from]));
  }

  if (implied) root = open('{', null, guide);
  else {
    const opener = openers[text[at] as string];
    at++;
    root = open(opener ?? '[', null, guide);
  }
  while (stack.length > 0 && failed === null) {
    spend(steps, stepsOfValue);
    if (steps.left < pauseAt) {
      yield;
      pauseAt = steps.left - stepsOfPause;
    }
    skip();
    if (failed !== null) break;
    const char = text[at] as string;
    if (isEnd()) closeDownTo(0);
    else if (closers[char] !== undefined) readCloser(closers[char]);
    else if (',，、;'.includes(char)) at++;
    else if (char === '.' && text.startsWith('...', at)) at += 3;
    else if (char === '…') at++;
    else if (stack.at(-1)?.opener === '{') readMember();
    else readItem();
  }
  if (failed !== null || root === null) return failed ?? 'no JSON';
  return { tree: root, start, end: at, brackets, hasBareText, hasStandIn };
}
