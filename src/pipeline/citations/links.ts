import { bareLink, type Link, mostAddress, type PageOf, unescaped } from './bare-link.ts';
import { type Brackets, bracketsIn } from './brackets.ts';

/** The definition of a reference link: `[label]: address`. */
interface Definition {
  /** The place of its address in the text. */
  place: { start: number; end: number };
  target: string;
}

/** The most definitions of a text that are read. */
const mostDefinitions = 2_000;

const definition =
  /^ {0,3}[[［]((?:[^[\]［］\\\n]|\\.){1,300})[\]］][:：][^\S\n]*(?:\n[^\S\n]*)?(<[^<>\n]{1,2000}>|[^\s<]\S{0,1999})/gmu;

interface Definitions {
  /** The definitions by label; the first one of a label counts. */
  byLabel: ReadonlyMap<string, Definition>;
  /** By the place where a definition begins: the place where it ends. */
  ends: ReadonlyMap<number, number>;
}

const mostLabel = 300;
/** The most brackets and addresses that are read; the rest is text. */
const mostStarts = 20_000;

/** The places where a link may begin. No address begins behind a letter or a digit. */
const starts = /\\[!-/:-@[-`{-~]|[[［【\]］】]|<https?:\/\/[^\s<>]+>|(?<![a-z0-9])https?:\/\/|\n[^\S\n]*\n/gi;
const openings: ReadonlySet<string> = new Set('[［【');
const closings: ReadonlySet<string> = new Set(']］】');
/** A title, or spaces alone. */
const afterTarget = /(?:\s+(?:"(?:[^"\\]|\\.){0,1000}"|'(?:[^'\\]|\\.){0,1000}'|\((?:[^()\\]|\\.){0,1000}\)))?\s*/suy;
const inAngles = /\s*<((?:[^<>\n\\]|\\.){1,2000})>/uy;

/**
 * Finds the links of a text to pages: inline (`[text](address "title")`, also in brackets of full width), in angle
 * brackets, by reference, and addresses alone. They are in the order of their places, and none is within another. The
 * work is proportional to the length of the text.
 * @param pageOf  returns the wanted page; without it, the end of an address without brackets cannot be known
 * @see CommonMark 0.31, "Links", "Link reference definitions" and "Autolinks"
 */
export function linksIn(text: string, pageOf: PageOf): Link[] {
  const links: Link[] = [];
  const { byLabel: definitions, ends: definitionEnds } = definitionsIn(text);
  const brackets = bracketsIn(text);
  /** Brackets that a link may begin with. */
  let open: number[] = [];
  const used = new Set<string>();

  /** @returns the place where the scan goes on; null: no link ends here */
  function closed(at: number): number | null {
    const start = open.pop();
    if (start === undefined) return null;
    const link = inlineLink(text, at + 1, brackets) ?? referenceLink(start, at);
    if (link === null) return null;
    if (isImage(text, start)) return link.end;
    // No link is within a link.
    open = open.filter((earlier) => isImage(text, earlier));
    links.push({ start, ...link });
    return link.end;
  }

  function referenceLink(start: number, at: number): Omit<Link, 'start'> | null {
    if (definitions.size === 0) return null;
    const second = /^[[［]([^[\]［］]{0,300})[\]］]/.exec(text.slice(at + 1, at + mostLabel + 3));
    const own = at - start <= mostLabel ? normalLabel(text.slice(start + 1, at)) : '';
    const label = second?.[1] ? normalLabel(second[1]) : own;
    const defined = definitions.get(label);
    if (defined === undefined) return null;
    used.add(label);
    return { end: at + 1 + (second?.[0].length ?? 0), target: defined.target };
  }

  starts.lastIndex = 0;
  let left = mostStarts;
  for (let found = starts.exec(text); found !== null && left > 0; found = starts.exec(text)) {
    left--;
    const { 0: one, index: at } = found;
    if (openings.has(one)) {
      const definitionEnd = definitionEnds.get(at);
      if (definitionEnd === undefined) open.push(at);
      else starts.lastIndex = definitionEnd;
    } else if (closings.has(one)) starts.lastIndex = closed(at) ?? at + 1;
    else if (one.startsWith('\n')) open = [];
    else if (one.startsWith('<')) links.push({ start: at, end: at + one.length, target: unescaped(one.slice(1, -1)) });
    else if (!one.startsWith('\\')) {
      const { link, next } = bareLink(text, at, pageOf);
      if (link !== null) links.push(link);
      starts.lastIndex = next;
    }
  }
  // The address of a definition that nothing refers to is a link by itself.
  for (const [label, { place, target }] of definitions) if (!used.has(label)) links.push({ ...place, target });
  return links.sort((one, other) => one.start - other.start);
}

function isImage(text: string, start: number): boolean {
  return text[start] === '[' && text[start - 1] === '!' && text[start - 2] !== '\\';
}

/** Reads the target in the brackets that follow a text in brackets. */
function inlineLink(text: string, at: number, { closing, space }: Brackets): Omit<Link, 'start'> | null {
  if (text[at] !== '(' && text[at] !== '（') return null;
  const closer = text[at] === '(' ? ')' : '）';
  const close = closing.get(at);
  inAngles.lastIndex = at + 1;
  const angled = inAngles.exec(text)?.[1];
  if (angled === undefined && close !== undefined) return linkTo(text.slice(at + 1, close), close + 1);
  const targetEnd = angled === undefined ? space.get(at) : inAngles.lastIndex;
  if (targetEnd === undefined) return null;
  afterTarget.lastIndex = targetEnd;
  const end = targetEnd + (afterTarget.exec(text)?.[0].length ?? 0);
  return text[end] === closer ? linkTo(angled ?? text.slice(at + 1, targetEnd), end + 1) : null;
}

function linkTo(target: string, end: number): Omit<Link, 'start'> | null {
  const plain = target.trim();
  return plain === '' || plain.length > mostAddress ? null : { end, target: unescaped(plain) };
}

/** @see CommonMark 0.31, "Link reference definitions" */
function definitionsIn(text: string): Definitions {
  const byLabel = new Map<string, Definition>();
  const ends = new Map<number, number>();
  let left = mostDefinitions;
  for (const { 0: whole, 1: label = '', 2: address = '', index } of text.matchAll(definition)) {
    if (left-- === 0) break;
    const target = unescaped(address.startsWith('<') ? address.slice(1, -1) : address);
    const key = normalLabel(label);
    const end = index + whole.length;
    ends.set(index + whole.search(/[[［]/), end);
    if (byLabel.has(key) || target.length > mostAddress || !/^https?:\/\//i.test(target)) continue;
    byLabel.set(key, { place: { start: end - address.length, end }, target });
  }
  return { byLabel, ends };
}

/** Returns a label in its normal form: two labels that differ in case and spaces alone are the same. */
function normalLabel(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();
}
