/** Makes ids. Callers pass it in, so that tests and replays are exact. */
export interface Ids {
  /** A random UUID, version 4. */
  uuid(): string;
}

/** Random UUIDs. Not those of `crypto.randomUUID`: docs/performance.md, "Flat strings". */
export const randomIds: Ids = { uuid: randomUuid };

const uuidBytes = 16;
const dash = '-'.charCodeAt(0);
const hexCodes = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Random bytes in stock: one call for many bytes costs less than a call per UUID. */
const stock = new Uint8Array(128 * uuidBytes);
let usedBytes = stock.length;
/** The character codes of the text; the dashes and the version digit stay. */
const uuidCodes = Array.from('00000000-0000-4000-8000-000000000000', (one) => one.charCodeAt(0));
const digitPlaces = uuidCodes.flatMap((code, place) => (code === dash ? [] : place));

/** Makes a UUID; see RFC 9562, section 5.4. */
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

/** The places of the random digits in a UUID: all digits but the version and the variant. */
const randomPlaces = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 28, 29, 30, 31, 32, 33, 34, 35];

/** The id of a completion: `gen-<unix seconds>-<20 hex digits>`, ordered by time. Never the upstream's id. */
export const generationId = orderedByTime('gen');

/**
 * The id of a hold: `hold-<unix seconds>-<20 hex digits>`, of which the first five count the holds of this process in
 * that second. So a store keeps new ids beside each other: with random digits alone, each settlement of a busy second
 * writes a page of its own. No caller sees these ids, which say how many there are.
 */
export const holdId = orderedByTime('hold', 5);

/** @param counted  how many of the digits count the ids of a second */
function orderedByTime(prefix: string, counted = 0): (ids: Ids, nowMs: number) => string {
  /** The character codes of the latest id, the second in it, and how many ids that second has. */
  let codes: number[] = [];
  let latest = -1;
  let count = 0;
  return (ids, nowMs) => {
    const second = Math.floor(nowMs / 1000);
    if (second !== latest) {
      latest = second;
      count = 0;
      codes = Array.from(`${prefix}-${second}-${'0'.repeat(randomPlaces.length)}`, (one) => one.charCodeAt(0));
    }
    const uuid = ids.uuid();
    // A host app's own `Ids` may make shorter ids.
    if (uuid.length < 36) return `${prefix}-${second}-${uuid}`;
    let at = codes.length - randomPlaces.length;
    for (const place of randomPlaces) codes[at++] = uuid.charCodeAt(place);
    if (counted > 0) {
      at = codes.length - randomPlaces.length;
      for (let digit = counted - 1; digit >= 0; digit--) codes[at++] = hexCodes[(count >> (4 * digit)) & 15] as number;
      count++;
    }
    return String.fromCharCode(...codes);
  };
}

/** The header with a completion's id, by which a caller can find the record. */
export function idHeader(id: string): Record<string, string> {
  return { 'x-generation-id': id };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Accepts every UUID version, in upper and lower case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/**
 * Makes names of instances. They do not come from `ids`, which may count: two instances would have the same name, and
 * ignore each other's records.
 */
export function instanceNames(randomBytes: (size: number) => Uint8Array): () => string {
  return () => randomBytes(16).reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '');
}
