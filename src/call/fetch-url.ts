/** A page or a file that was fetched. */
export interface FetchedFile {
  /** The URL where the file was found, after redirects. */
  url: string;
  /** The media type in lower case, without parameters, such as `text/html`; '' where the server names none. */
  mediaType: string;
  /** The character set that the server names, such as `utf-8`; null: it names none. */
  charset: string | null;
  /** The bytes, decompressed. */
  bytes: Uint8Array;
}

/** The conditions that a fetched file has to meet. */
export interface FetchUrlOptions {
  /** The most bytes, after decompression. */
  maxBytes: number;
  /** Media types such as `text/html`, or `text/*`. Absent: any. */
  mediaTypes?: readonly string[];
  /** Called with the URL and with every redirect. Absent: all are allowed. */
  isAllowed?: (url: URL) => boolean;
  /** Ends the fetch, and closes its connection. */
  signal: AbortSignal;
}

/**
 * Fetches a URL that a caller or a model chose. Only http and https, and only public addresses, on every redirect.
 * @throws FetchRefused with the reason; the reason of the signal
 */
export type FetchUrl = (url: string, options: FetchUrlOptions) => Promise<FetchedFile>;

/** The reason why a URL was not fetched. An address that is not public and one that does not exist look the same. */
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

/** The refusal of a URL that was not fetched. The message may be shown: it holds no addresses. */
export class FetchRefused extends Error {
  /** The name of the class. */
  override readonly name = 'FetchRefused';
  /** The reason why the URL was not fetched. */
  readonly fault: FetchFault;

  constructor(fault: FetchFault, options?: ErrorOptions) {
    super(messages[fault], options);
    this.fault = fault;
  }
}
