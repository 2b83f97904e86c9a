import type { Turn } from './turns.ts';

/** The readable text of a web page. */
export interface HtmlText {
  /** '' where the page has none. */
  title: string;
  /** The text as Markdown. */
  text: string;
  /** true: text beyond the limit was left out. */
  isCut: boolean;
}

/** A page to read. */
export interface HtmlPage {
  html: string;
  /** The URL of the page, for its relative links. */
  url: string;
  /** The most characters of text; the rest is left out. */
  chars: number;
  /** The most work in about µs: a page whose article takes more work to find is read as plain text. */
  work: number;
}

/** The reason why there is no text: the page cannot be read, or reading it took too much. */
export type HtmlFault = 'unreadable' | 'too_costly';

/** Reads web pages. The runtime decides which reader it is: see `#documents` in package.json. */
export interface HtmlReader {
  /**
   * @param signal  stops the reading; the promise is then rejected with its reason
   * @param turn    the turn of the workspace that wants to read the page
   * @throws GatewayError rate_limited (429): too many pages of the workspace wait
   */
  read(page: HtmlPage, signal: AbortSignal, turn?: Turn): Promise<HtmlText | HtmlFault>;
}
