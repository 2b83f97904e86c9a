import process from 'node:process';

/** A moment of this thread: what it has worked is told in ticks of milliseconds, and what the clock says is exact. */
interface Moment {
  clockMs: number;
  workedMs: number;
}

function now(): Moment {
  const { user, system } = process.threadCpuUsage();
  return { clockMs: performance.now(), workedMs: (user + system) / 1000 };
}

/**
 * Milliseconds that this thread has worked since. The time in which it waited for a core is not counted: what else runs
 * on the machine makes no turn of the loop longer.
 */
function workedSince({ clockMs, workedMs }: Moment): number {
  const until = now();
  return Math.min(until.clockMs - clockMs, until.workedMs - workedMs);
}

/** The longest turn of the event loop while a promise is pending, in milliseconds of work. */
export async function longestTurnMs(run: () => Promise<unknown>, everyTurn?: () => void): Promise<number> {
  let longest = 0;
  let last = now();
  let beating = true;
  const look = () => {
    longest = Math.max(longest, workedSince(last));
    everyTurn?.();
    last = now();
  };
  const beat = () => {
    look();
    if (beating) setImmediate(beat);
  };
  setImmediate(beat);
  try {
    await run();
  } finally {
    beating = false;
    look();
  }
  return longest;
}

/** Reading and writing so many small objects takes 1 ms on a machine of our kind that does nothing else. */
const objectsOfUnit = 2_000;
const unitText = JSON.stringify(Array.from({ length: objectsOfUnit }, (_, at) => ({ role: 'user', content: `${at}` })));

/**
 * How long the machine now needs for a piece of work that takes 1 ms when it is quiet. The work is what a gateway does:
 * where others use the memory and the caches, it takes longer, as that of the gateway does.
 */
export function unitMs(): number {
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    JSON.stringify(JSON.parse(unitText));
    return performance.now() - start;
  });
  return Math.max(1, times.sort((a, b) => a - b)[7] as number);
}

/** What nobody can do without: reading bytes as text, the text as JSON, and writing both. */
export function movingMs(text: string): number {
  const start = now();
  const bytes = new TextEncoder().encode(text);
  const read = new TextDecoder().decode(bytes);
  let value: unknown = read;
  try {
    value = JSON.parse(read);
  } catch {
    // A stream of events is no JSON: it is moved all the same.
  }
  new TextEncoder().encode(JSON.stringify(value));
  return workedSince(start);
}

/** How long the machine now needs to put so many bytes into memory that is new: where pages are dear, that is most of it. */
function copyingMs(bytes: number): number {
  const piece = new Uint8Array(64 * 1024).fill(1);
  const copies: Uint8Array[] = [];
  let longest = 0;
  for (let time = 0; time < 4; time++) {
    const start = now();
    const copy = new Uint8Array(bytes);
    for (let at = 0; at + piece.length <= bytes; at += piece.length) copy.set(piece, at);
    longest = Math.max(longest, workedSince(start));
    // Kept, so that the next one is new too.
    copies.push(copy);
  }
  return longest;
}

const mostUnits = 50;
/** A machine that has much to do is asked again: the best of so many counts. */
const tries = 10;

/** A body of so many characters has to keep to the units, whatever it holds. */
const largeBody = 1024 * 1024;

/**
 * Whether no turn of the event loop is longer than 50 units while a request is served. Of a body of more than a
 * megabyte, beside what its bytes alone cost: JSON.parse and JSON.stringify take them in one turn.
 * @param moved   the request and the response, as texts
 * @param copied  bytes that are put together in one turn
 * @returns what is wrong, in words; null: nothing
 */
export async function stallOf(run: () => Promise<unknown>, moved: string, copied = 0): Promise<string | null> {
  let least = Number.POSITIVE_INFINITY;
  let allowed = 0;
  for (let time = 0; time < tries; time++) {
    least = Math.min(least, await longestTurnMs(run));
    if (least <= mostUnits) return null;
    const bytesMs = moved.length > largeBody ? 2 * movingMs(moved) : 0;
    allowed = Math.max(allowed, mostUnits * unitMs() + bytesMs + copyingMs(copied));
    if (least <= allowed) return null;
  }
  return `${Math.round(least)} ms where ${Math.round(allowed)} ms are allowed`;
}
