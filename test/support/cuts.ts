/**
 * Places to cut a stream at: borders of events, places inside characters of several bytes, and others spread over it.
 * @param most  about how many
 */
export function placesToCut(body: Uint8Array, most = 200): number[] {
  const borders: number[] = [];
  const inside: number[] = [];
  for (let at = 1; at < body.length; at++) {
    if (((body[at] as number) & 0xc0) === 0x80) inside.push(at);
    if (body[at - 1] === 10 && (at < 2 || body[at - 2] === 10 || body[at - 2] === 13)) borders.push(at);
  }
  const places = new Set([...some(inside, most / 4), ...some(borders, most / 4)]);
  for (
    let place = 1;
    place < body.length && places.size < most;
    place += Math.max(Math.floor((body.length * 2) / most), 1)
  )
    places.add(place);
  return [...places].sort((a, b) => a - b);
}

/** As many of a list, evenly spread. */
export function some(list: readonly number[], most: number): number[] {
  const step = Math.max(list.length / most, 1);
  return Array.from({ length: Math.min(list.length, most) }, (_, at) => list[Math.floor(at * step)] as number);
}

/** Where the events of a stream end. */
export function eventEnds(body: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 0; at + 1 < body.length; at++) if (body[at] === 10 && body[at + 1] === 10) ends.push(at + 2);
  return ends;
}
