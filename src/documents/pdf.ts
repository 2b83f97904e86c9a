import type { Turn } from './turns.ts';

/** The limits for a PDF. */
export interface PdfLimits {
  /** The most pages; further ones are left out. */
  pages: number;
  /** The most characters of text of all pages together; the rest is left out. */
  chars: number;
  /**
   * The most bytes of memory for reading: for the unpacked file, and for objects, each. Runtimes without worker threads
   * have a limit of their own. Default 256 MiB.
   */
  memoryBytes?: number;
}

/** The default for the memory that reading a document may take. */
export const defaultMemoryBytes = 256 * 1024 * 1024;

/** The exit code of a thread whose document takes too much memory. */
export const tooCostlyCode = 3;

/** The text of a PDF. */
export interface PdfText {
  /** The texts of the pages that were read, in order. */
  pages: string[];
  /** The number of pages of the document. */
  total: number;
  /** true: pages or text beyond the limits were left out. */
  isCut: boolean;
}

/**
 * The reason why there is no text. `unreadable`: the file is no PDF, is damaged, or needs a password. `too_costly`:
 * reading it took too much.
 */
export type PdfFault = 'unreadable' | 'too_costly';

/** Reads PDFs. The runtime decides which reader it is: see `#documents` in package.json. */
export interface PdfReader {
  /**
   * @param bytes   the file; may be taken over, and must not be used afterwards
   * @param signal  stops the reading; the promise is then rejected with its reason
   * @param turn    the turn of the workspace whose file it is
   * @throws GatewayError rate_limited (429): too many files of the workspace wait
   */
  read(bytes: Uint8Array, limits: PdfLimits, signal: AbortSignal, turn?: Turn): Promise<PdfText | PdfFault>;
}
