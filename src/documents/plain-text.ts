import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { nextTurn } from '../base/async/next-turn.ts';
import type { HtmlPage, HtmlText } from './html.ts';
import { pieceCharacters } from './html-work.ts';

/** Elements without text. */
const silent: ReadonlySet<string> = new Set(
  'script style title noscript template iframe object svg canvas video audio'.split(' '),
);
/** Elements around the text. */
const around: ReadonlySet<string> = new Set(['nav', 'aside', 'footer']);
/** Elements that begin and end a paragraph or a line. */
const blocks: ReadonlySet<string> = new Set(
  'address article blockquote body dl dd dt div fieldset figure figcaption form h1 h2 h3 h4 h5 h6 header hr main ol p pre section table ul'.split(
    ' ',
  ),
);
const lines: ReadonlySet<string> = new Set(['br', 'li', 'tr', 'option']);
const cells: ReadonlySet<string> = new Set(['td', 'th']);

/**
 * Reads the text of a page of any depth and size, with its headings, lists and links. It takes one pass over the tags,
 * without a tree, in a time that grows with the length of the page. It does not find the article.
 */
export async function plainTextOf(page: HtmlPage): Promise<HtmlText> {
  const text = await textOf(page, new Set([...silent, ...around]));
  // A page that is all navigation has its text there.
  return text.text === '' ? textOf(page, silent) : text;
}

async function textOf({ html, url, chars }: HtmlPage, skipped: ReadonlySet<string>): Promise<HtmlText> {
  const reader = new PlainReader(html, url, chars, skipped);
  const tokenizer = new Tokenizer({}, reader);
  for (let at = 0; at < html.length && !reader.isFull; at += pieceCharacters) {
    if (at > 0) await nextTurn();
    tokenizer.write(html.slice(at, at + pieceCharacters));
  }
  if (!reader.isFull) tokenizer.end();
  return reader.result();
}

/** Gets tags and texts by their places in the page. */
class PlainReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #url: string;
  readonly #chars: number;
  readonly #skipped: ReadonlySet<string>;
  readonly #parts: string[] = [];
  #length = 0;
  readonly #title: string[] = [];
  /** The line ends, or the space, before the next text. */
  #gap = '';
  /** The mark before the next text, such as that of a heading. */
  #mark = '';
  #tag = '';
  #attribute = '';
  /** The element that is skipped, and the number of open elements of its name inside. */
  #skipping: string | null = null;
  #depth = 0;
  /** The open link; null: none is open. */
  #link: { href: string; hasText: boolean } | null = null;

  constructor(html: string, url: string, chars: number, skipped: ReadonlySet<string>) {
    this.#html = html;
    this.#url = url;
    this.#chars = chars;
    this.#skipped = skipped;
  }

  /** true: there is more text than the limit. */
  get isFull(): boolean {
    return this.#length > this.#chars;
  }

  result(): HtmlText {
    const text = this.#parts.join('');
    const title = this.#title.join('').replace(/\s+/g, ' ').trim();
    return { title, text: text.slice(0, this.#chars), isCut: this.isFull };
  }

  onopentagname(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    this.#tag = name;
    if (this.#skipping !== null) {
      if (name === this.#skipping) this.#depth++;
      return;
    }
    if (this.#skipped.has(name)) {
      this.#skipping = name;
      this.#depth = 1;
      return;
    }
    this.#border(name);
    if (/^h[1-6]$/.test(name)) this.#mark = `${'#'.repeat(Number(name[1]))} `;
    else if (name === 'li') this.#mark = '- ';
    else if (name === 'a') this.#beginLink();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    if (this.#skipping !== null) {
      if (name === this.#skipping && --this.#depth === 0) this.#skipping = null;
      return;
    }
    if (name === 'a') this.#endLink();
    this.#border(name);
  }

  onselfclosingtag(): void {
    // In HTML itself, outside of SVG, the slash means nothing.
    if (this.#tag === 'svg' && this.#skipping === 'svg' && --this.#depth === 0) this.#skipping = null;
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#tag === 'a' && this.#link !== null ? this.#html.slice(start, end).toLowerCase() : '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute === 'href' && this.#link !== null) this.#link.href += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    if (this.#attribute === 'href' && this.#link !== null) this.#link.href += String.fromCodePoint(codePoint);
  }

  ontext(start: number, end: number): void {
    this.#text(this.#html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    this.#text(String.fromCodePoint(codePoint));
  }

  onattribend(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(): void {}
  onprocessinginstruction(): void {}

  #border(name: string): void {
    const gap = blocks.has(name) ? '\n\n' : lines.has(name) ? '\n' : cells.has(name) ? ' ' : '';
    if (gap.length > this.#gap.length || (gap === '\n' && this.#gap === ' ')) this.#gap = gap;
  }

  #text(text: string): void {
    if (this.#skipping === 'title') this.#title.push(text);
    if (this.#skipping !== null || this.isFull) return;
    const plain = text.replace(/\s+/g, ' ');
    if (plain.startsWith(' ') && this.#gap === '') this.#gap = ' ';
    const words = plain.trim();
    if (words === '') return;
    if (this.#length > 0) this.#put(this.#gap);
    if (this.#mark !== '') this.#put(this.#mark);
    if (this.#link !== null && !this.#link.hasText) {
      this.#put('[');
      this.#link.hasText = true;
    }
    this.#put(words);
    this.#mark = '';
    this.#gap = plain.endsWith(' ') ? ' ' : '';
  }

  #put(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  #beginLink(): void {
    this.#endLink();
    this.#link = { href: '', hasText: false };
  }

  /** Writes a link, because the model may want to follow it. A link that leads to no page loses its address. */
  #endLink(): void {
    const link = this.#link;
    this.#link = null;
    if (link === null || !link.hasText) return;
    const target = link.href !== '' && URL.canParse(link.href, this.#url) ? new URL(link.href, this.#url) : null;
    this.#put(target !== null && /^https?:$/.test(target.protocol) ? `](${target.href})` : ']');
  }
}
