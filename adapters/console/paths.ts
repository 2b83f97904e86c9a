/** Tells whether a text is a path that may stand in a cookie, in a header and in the page. */
export function isPath(text: string): boolean {
  return /^\/(?!\/)[\w\-./~%]{0,200}$/.test(text);
}

/** The same path without a slash at its end. */
export function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
