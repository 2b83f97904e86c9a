/** A page or a file that was fetched. */
export interface FetchedFile {
  /** Where it was found, after redirects. */
  url: string;
  /** Lower case, without parameters, such as `text/html`; '' where the server does not say. */
  mediaType: string;
  /** As the server says, such as `utf-8`; null: it does not say. */
  charset: string | null;
  /** Decompressed. */
  bytes: Uint8Array;
}

/** What the receiver of a file can take. */
export interface FetchUrlOptions {
  /** The most bytes, after decompression. */
  maxBytes: number;
  /** Media types such as `text/html`, or `text/*`. Absent: any. */
  mediaTypes?: readonly string[];
  /** Is asked for the URL and for every redirect. Absent: all. */
  isAllowed?: (url: URL) => boolean;
  /** Ends the fetch, and closes its connection. */
  signal: AbortSignal;
}

/**
 * Fetches a URL that a caller or a model chose. Only http and https, and only public addresses, on every redirect.
 * @throws FetchRefused saying why; the reason of the signal
 */
export type FetchUrl = (url: string, options: FetchUrlOptions) => Promise<FetchedFile>;

/** Why a URL was not fetched. What is not public and what does not exist look the same. */
export type FetchFault =
  | 'url'
  | 'host'
  | 'not_allowed'
  | 'redirects'
  | 'status'
  | 'media_type'
  | 'too_large'
  | 'too_slow'
  | 'connection'
  | 'unavailable';

const messages: Record<FetchFault, string> = {
  url: 'expected a URL with http or https, a usual port, and no user name',
  host: 'expected a URL whose host has public addresses',
  not_allowed: 'expected a URL of an allowed domain',
  redirects: 'expected a URL with fewer redirects',
  status: 'the server did not return the file',
  media_type: 'expected a file of another type',
  too_large: 'expected a smaller file',
  too_slow: 'the server took too long',
  connection: 'the server could not be reached',
  unavailable: 'this gateway fetches no URLs',
};

/** A URL that was not fetched. The message is fit to be shown: it says nothing of addresses. */
export class FetchRefused extends Error {
  /** The name of the class. */
  override readonly name = 'FetchRefused';
  /** Why the URL was not fetched. */
  readonly fault: FetchFault;

  constructor(fault: FetchFault, options?: ErrorOptions) {
    super(messages[fault], options);
    this.fault = fault;
  }
}
