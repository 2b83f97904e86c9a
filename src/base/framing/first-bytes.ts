/** Tells whether JSON or HTML may start with this byte: `{`, `[` or `<`. */
export function isBracket(byte: number | undefined): boolean {
  return byte === 123 || byte === 91 || byte === 60;
}

/** The position at which the text starts, after white space and byte-order marks. */
export function startOfText(bytes: Uint8Array): number {
  let at = 0;
  for (;;) {
    const byte = bytes[at] ?? 0;
    if (byte === 32 || (byte >= 9 && byte <= 13)) at++;
    else if (byte === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3;
    else return at;
  }
}
