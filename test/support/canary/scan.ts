/** Looks for marked texts in whatever was said or stored, in every spelling that still gives them away. */
export interface Scan {
  /** The spellings that were found; empty for none. */
  find(where: string | Uint8Array): string[];
}

export function scanFor(marks: readonly string[]): Scan {
  const needles = marks.flatMap((mark) =>
    Object.entries(spellingsOf(mark)).map(([name, spelling]) => ({ name: `${mark.slice(0, 12)}… ${name}`, spelling })),
  );
  return {
    find(where) {
      const bytes =
        typeof where === 'string' ? Buffer.from(where) : Buffer.from(where.buffer, where.byteOffset, where.byteLength);
      return needles.filter(({ spelling }) => bytes.includes(spelling)).map(({ name }) => name);
    },
  };
}

/** By name; each stands alone or inside a longer text of its kind. */
export function spellingsOf(text: string): Record<string, Buffer> {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const all: Record<string, string | Buffer> = {
    plain: text,
    'UTF-16': Buffer.from(text, 'utf16le'),
    hex,
    'upper-case hex': hex.toUpperCase(),
    'percent-encoded': encodeURIComponent(text),
    'percent-encoded throughout': percent,
    'percent-encoded throughout, upper-case': percent.toUpperCase(),
    'inside JSON': JSON.stringify(text).slice(1, -1),
    'as code points': [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  };
  for (let before = 0; before < 3; before++) {
    // What of it does not depend on its neighbours.
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)];
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    all[`base64 behind ${before}`] = padded.toString('base64').slice(from, to);
    all[`base64url behind ${before}`] = padded.toString('base64url').slice(from, to);
  }
  return Object.fromEntries(Object.entries(all).map(([name, spelling]) => [name, Buffer.from(spelling)]));
}
