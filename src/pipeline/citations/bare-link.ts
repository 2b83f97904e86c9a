/** A link in a text. */
export interface Link {
  /** Its place, in UTF-16 units: of its first bracket, or of its address where it has none. */
  start: number;
  /** Behind its last character. */
  end: number;
  /** The page that it leads to. */
  target: string;
}

/** Addresses are shorter. */
export const mostAddress = 2000;

/** What no address goes on with, beside spaces. */
const hardEnds: ReadonlySet<string> = new Set('"<>`|\\^{}\x7f');
/** What an address may go on with, although it seldom does: marks and brackets of East Asian texts, quotes. */
const softEnds: ReadonlySet<string> = new Set('，。、；：！？…（【［「『《〈】］」』》〉“”‘’«»[');
/** A closing bracket ends an address in which it closes nothing. */
const openers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '）': '（' };
/** What stands behind an address more often than at its end. */
const markup: ReadonlySet<string> = new Set("*_~'’”»");
const trailing: ReadonlySet<string> = new Set("?!.,:;*_~'…’”»、。，！？；：");
/** An address is looked for beyond so many soft ends, and so many characters behind the first. */
const mostEnds = 4;
const mostBeyond = 200;

/** The page at an address; undefined: nobody wants it. */
export type PageOf = (address: string) => object | undefined;

/**
 * The address that begins at a place, as far as it is one that is wanted. Of several pages, that of the longest address;
 * of several forms, the shortest: what follows may look as a part of the fragment.
 * @returns `next`: where the scan goes on
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

/** A text without what stands at its end of these characters. */
function withoutEnd(text: string, of: ReadonlySet<string>): string {
  let end = text.length;
  while (end > 0 && of.has(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

/** Where the address may end, the nearest first; at least one place. */
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

/** Backslashes before marks, and the entities that stand in addresses. @see CommonMark 0.31, "Backslash escapes" */
export function unescaped(address: string): string {
  if (!/[\\&]/.test(address)) return address;
  return address
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&(?:amp|#38|#x26);/gi, '&')
    .replace(/&(?:lpar|#40|#x28);/gi, '(')
    .replace(/&(?:rpar|#41|#x29);/gi, ')');
}
