/** The contents of a data URL. */
export interface DataUrl {
  /** The media type, such as `image/png`, in lower case, without parameters. */
  mediaType: string;
  /** The content. */
  base64: string;
}

const longestHead = 200;

/** Reads a base64 data URL; null for any other URL. Does not read the content, which may be megabytes. */
export function readDataUrl(url: string): DataUrl | null {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return null;
  const comma = url.slice(0, longestHead).indexOf(',');
  if (comma < 0) return null;
  const [mediaType = '', ...parameters] = url.slice(5, comma).split(';');
  if (parameters.at(-1)?.trim().toLowerCase() !== 'base64') return null;
  return { mediaType: mediaType.trim().toLowerCase() || 'text/plain', base64: url.slice(comma + 1) };
}
