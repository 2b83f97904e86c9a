/** A link in a text. */
export interface Link {
  /** The place of the link, in UTF-16 units: of its first bracket, or of its address where it has none. */
  start: number;
  /** The place after its last character. */
  end: number;
  /** The page that it leads to. */
  target: string;
}

/** The most characters of an address; real ones are shorter. */
export const mostAddress = 2000;

/** Characters, beside spaces, that end every address. */
const hardEnds: ReadonlySet<string> = new Set('"<>`|\\^{}\x7f');
/** Characters that seldom belong to an address, but may: marks and brackets of East Asian texts, quotes. */
const softEnds: ReadonlySet<string> = new Set('，。、；：！？…（【［「『《〈】］」』》〉“”‘’«»[');
/** A closing bracket ends an address in which it closes nothing. */
const openers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '）': '（' };
/** Characters that stand behind an address more often than at its end. */
const markup: ReadonlySet<string> = new Set("*_~'’”»");
const trailing: ReadonlySet<string> = new Set("?!.,:;*_~'…’”»、。，！？；：");
/** The search for the end of an address stops after so many soft ends, or so many characters behind the first. */
const mostEnds = 4;
const mostBeyond = 200;

/** Returns the page at an address; undefined: no page that is wanted. */
export type PageOf = (address: string) => object | undefined;

/**
 * Finds the address that begins at a place and leads to a wanted page. Of several pages, the one with the longest
 * address counts; of several forms, the shortest: the text behind it may look like a part of the fragment.
 * @returns `next`: the place where the scan goes on
 */
export function bareLink(text: string, start: number, pageOf: PageOf): { link: Link | null; next: number } {
  const ends = endsOf(text, start);
  let found: object | undefined;
  let link: Link | null = null;
  for (const end of ends) {
    const whole = text.slice(start, end);
    for (const address of new Set([withoutEnd(whole, trailing), withoutEnd(whole, markup), whole])) {
      const target = unescaped(address);
      const page = pageOf(target);
      if (page === undefined || page === found) continue;
      found = page;
      link = { start, end: start + address.length, target };
    }
  }
  return { link, next: link?.end ?? (ends[0] as number) };
}

/** Returns a text without these characters at its end. */
function withoutEnd(text: string, of: ReadonlySet<string>): string {
  let end = text.length;
  while (end > 0 && of.has(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

/** Returns the places where the address may end, the nearest first; at least one. */
function endsOf(text: string, start: number): number[] {
  const ends: number[] = [];
  const open: Record<string, number> = { '(': 0, '（': 0 };
  let most = Math.min(text.length, start + mostAddress);
  let at = text.indexOf('//', start) + 2;
  const softEnd = () => {
    ends.push(at);
    most = Math.min(most, (ends[0] as number) + mostBeyond);
  };
  for (; at < most && ends.length < mostEnds; at++) {
    const one = text[at] as string;
    if (one <= ' ' || hardEnds.has(one) || (one > '~' && /\s/.test(one))) break;
    const opener = openers[one];
    if (opener !== undefined) {
      const count = open[opener] ?? 0;
      if (count > 0) open[opener] = count - 1;
      else softEnd();
    } else if (softEnds.has(one) || ((one === ',' || one === ';') && text.startsWith('http', at + 1))) softEnd();
    if (open[one] !== undefined) open[one]++;
  }
  return ends.length < mostEnds ? [...ends, at] : ends;
}

/**
 * Removes backslashes before marks, and decodes the entities that stand in addresses. @see CommonMark 0.31, "Backslash
 * escapes"
 */
export function unescaped(address: string): string {
  if (!/[\\&]/.test(address)) return address;
  return address
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&(?:amp|#38|#x26);/gi, '&')
    .replace(/&(?:lpar|#40|#x28);/gi, '(')
    .replace(/&(?:rpar|#41|#x29);/gi, ')');
}
