/** Reads bytes as ASCII. */
export function textAt(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Tells whether an ASCII text stands at a place of bytes. Makes no text of them: some readers ask at each byte. */
export function isTextAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let place = 0; place < text.length; place++) if (bytes[at + place] !== text.charCodeAt(place)) return false;
  return true;
}

/** Returns a view of bytes for numbers of several bytes. */
export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
