/** The readable text of a web page. */
export interface HtmlText {
  /** '' where the page has none. */
  title: string;
  /** Markdown. */
  text: string;
  /** true: text beyond the limit was left out. */
  isCut: boolean;
}

/** A page that is to be read. */
export interface HtmlPage {
  html: string;
  /** Where it was found: relative links are relative to it. */
  url: string;
  /** Characters of text; the rest is left out. */
  chars: number;
}

/** Why there is no text: the page cannot be read, or reading it took too much. */
export type HtmlFault = 'unreadable' | 'too_costly';

/** Reads web pages. It is chosen by the runtime: see `#documents` in package.json. */
export interface HtmlReader {
  /** @param signal  stops the reading; the promise is then rejected with its reason */
  read(page: HtmlPage, signal: AbortSignal): Promise<HtmlText | HtmlFault>;
}
