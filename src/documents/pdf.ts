/** What a PDF may have at most. */
export interface PdfLimits {
  /** Further pages are left out. */
  pages: number;
  /** Characters of text, of all pages together; the rest is left out. */
  chars: number;
}

/** The text of a PDF. */
export interface PdfText {
  /** The texts of the pages that were read, in order. */
  pages: string[];
  /** How many pages the document has. */
  total: number;
  /** true: pages or text beyond the limits were left out. */
  isCut: boolean;
}

/** Why there is no text: the file is no PDF, is damaged, or needs a password; or reading it took too much. */
export type PdfFault = 'unreadable' | 'too_costly';

/** Reads PDFs. It is chosen by the runtime: see `#documents` in package.json. */
export interface PdfReader {
  /**
   * @param bytes   the file; may be taken over, and must not be used afterwards
   * @param signal  stops the reading; the promise is then rejected with its reason
   */
  read(bytes: Uint8Array, limits: PdfLimits, signal: AbortSignal): Promise<PdfText | PdfFault>;
}
