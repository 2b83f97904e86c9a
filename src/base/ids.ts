/** Where ids come from, passed in so that tests and replays are exact. */
export interface Ids {
  /** A random UUID, version 4. */
  uuid(): string;
}

/**
 * The text of `crypto.randomUUID` is kept as forty parts, and putting them together the first time it is looked at takes
 * five times as long as making one in one piece (see `inOnePiece`). There are two of them in a request.
 */
export const randomIds: Ids = { uuid: randomUuid };

const uuidBytes = 16;
const dash = '-'.charCodeAt(0);
const hexCodes = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Random bytes in stock: asking for them costs more than making a text of them. */
const stock = new Uint8Array(128 * uuidBytes);
let usedBytes = stock.length;
/** What the text is made of; the dashes stay. */
const uuidCodes = Array.from('00000000-0000-4000-8000-000000000000', (one) => one.charCodeAt(0));
const digitPlaces = uuidCodes.flatMap((code, place) => (code === dash ? [] : place));

/** As RFC 9562, section 5.4, has it. */
function randomUuid(): string {
  if (usedBytes === stock.length) {
    crypto.getRandomValues(stock);
    usedBytes = 0;
  }
  for (let at = 0; at < uuidBytes; at++) {
    let byte = stock[usedBytes++] as number;
    if (at === 6) byte = (byte & 0x0f) | 0x40;
    if (at === 8) byte = (byte & 0x3f) | 0x80;
    uuidCodes[digitPlaces[2 * at] as number] = hexCodes[byte >> 4] as number;
    uuidCodes[digitPlaces[2 * at + 1] as number] = hexCodes[byte & 0x0f] as number;
  }
  return String.fromCharCode(...uuidCodes);
}

/** Of a UUID, the digits that are neither its version nor its variant. */
const randomPlaces = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 28, 29, 30, 31, 32, 33, 34, 35];
/** The latest completion's id, and the second that it begins with. */
let idCodes: number[] = [];
let idSecond = -1;

/** `gen-<unix seconds>-<20 hex digits>`: a completion's id, ordered by time. Never the upstream's id. */
export function generationId(ids: Ids, nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== idSecond) {
    idSecond = second;
    idCodes = Array.from(`gen-${second}-${'0'.repeat(randomPlaces.length)}`, (one) => one.charCodeAt(0));
  }
  const uuid = ids.uuid();
  // Whoever makes the ids may make shorter ones.
  if (uuid.length < 36) return `gen-${second}-${uuid}`;
  let at = idCodes.length - randomPlaces.length;
  for (const place of randomPlaces) idCodes[at++] = uuid.charCodeAt(place);
  return String.fromCharCode(...idCodes);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
