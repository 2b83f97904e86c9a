import { added, addTo, count, emptyTotal, type Histogram, type Total } from './histogram.ts';

export type Outcome = 'ok' | 'failed' | 'limited';

/** What happened in a stretch of time. */
export interface Slot {
  /** Its start since the epoch, in lengths of such a slot. */
  number: number;
  ok: number;
  failed: number;
  limited: number;
  /** Time to first token, ms; null: nothing seen. */
  latency: Histogram | null;
  /** Output tokens per second; null: nothing seen. */
  throughput: Histogram | null;
}

/**
 * The spans that roll over time, in slots. A span is the slot in flight and those before it, so it holds nothing that
 * is older than it says, and up to one slot less.
 */
export const spans = [
  // For outages; holds outcomes only.
  { slotMs: 5_000, slots: 6 },
  { slotMs: 60_000, slots: 5 },
  { slotMs: 300_000, slots: 6 },
  { slotMs: 3_600_000, slots: 24 },
] as const;

/** Indices of `spans`. */
export const [last30s, last5m, last30m, last1d] = [0, 1, 2, 3] as const;
export type Span = 0 | 1 | 2 | 3;

export interface Series {
  /** For each span, its slots in a ring: what is out of date is written over. */
  rings: (Slot | undefined)[][];
  /** The slots in flight, by span, and the number of the shortest, within which they all stay the same. */
  current: Slot[];
  currentNumber: number;
}

export function createSeries(): Series {
  return { rings: spans.map(() => []), current: [], currentNumber: -1 };
}

/** @param latencyBucket  -1, as of throughput: nothing seen */
export function record(
  series: Series,
  nowMs: number,
  outcome: Outcome | undefined,
  latencyBucket: number,
  throughputBucket: number,
): void {
  const number = slotNumber(last30s, nowMs);
  // Once for all spans: every other length is a multiple of the shortest.
  if (number !== series.currentNumber) open(series, nowMs, number);
  const { current } = series;
  for (let span: Span = last30s; span <= last1d; span++) {
    const slot = current[span] as Slot;
    // Spelt out: a property by a name that varies is slower.
    if (outcome === 'ok') slot.ok++;
    else if (outcome === 'failed') slot.failed++;
    else if (outcome === 'limited') slot.limited++;
    if (span === last30s) continue;
    if (latencyBucket >= 0) slot.latency = count(slot.latency, latencyBucket);
    if (throughputBucket >= 0) slot.throughput = count(slot.throughput, throughputBucket);
  }
}

function open(series: Series, nowMs: number, number: number): void {
  series.currentNumber = number;
  series.current = spans.map((_, span) => slotAt(series, span as Span, nowMs));
}

/** The slot in flight. */
function slotAt({ rings }: Series, span: Span, nowMs: number): Slot {
  const number = slotNumber(span, nowMs);
  const ring = rings[span] as (Slot | undefined)[];
  const at = number % spans[span].slots;
  const known = ring[at];
  if (known !== undefined && known.number === number) return known;
  const slot: Slot = { number, ok: 0, failed: 0, limited: 0, latency: null, throughput: null };
  ring[at] = slot;
  return slot;
}

/** Puts a slot in its place, unless what is there is later. */
export function place({ rings }: Series, span: Span, slot: Slot): void {
  const ring = rings[span] as (Slot | undefined)[];
  const at = slot.number % spans[span].slots;
  const known = ring[at];
  if (known === undefined || known.number <= slot.number) ring[at] = slot;
}

/** The number of the slot in flight. */
export function slotNumber(span: Span, nowMs: number): number {
  return Math.floor(nowMs / spans[span].slotMs);
}

/**
 * The slots of a span, as it is now, in no order.
 * @param ahead  also those of so many slots to come, of clocks that are ahead
 */
export function slotsOf({ rings }: Series, span: Span, nowMs: number, ahead = 0): Slot[] {
  const now = slotNumber(span, nowMs);
  const oldest = now - spans[span].slots + 1;
  const slots: Slot[] = [];
  for (const slot of rings[span] as (Slot | undefined)[]) {
    if (slot !== undefined && slot.number >= oldest && slot.number <= now + ahead) slots.push(slot);
  }
  return slots;
}

/**
 * Adds up what several saw in the spans that every request asks of, so that it need not.
 * @param all  at least one
 */
export function combine(all: readonly Series[], nowMs: number): Series {
  const [first] = all;
  if (all.length === 1 && first !== undefined) return first;
  const combined = createSeries();
  for (const span of [last30s, last5m] as const) {
    // Not in a ring: a clock that is ahead must not push out what is now.
    const slots = new Map<number, Slot>();
    for (const series of all) {
      for (const seen of slotsOf(series, span, nowMs, Number.POSITIVE_INFINITY)) {
        const slot = slots.get(seen.number);
        if (slot === undefined) slots.set(seen.number, { ...seen });
        else add(slot, seen);
      }
    }
    combined.rings[span] = [...slots.values()];
  }
  return combined;
}

/** Its histograms are replaced, not written to: they may be of what it was copied from. */
function add(slot: Slot, { ok, failed, limited, latency, throughput }: Slot): void {
  slot.ok += ok;
  slot.failed += failed;
  slot.limited += limited;
  if (latency) slot.latency = slot.latency === null ? latency : added(slot.latency, latency);
  if (throughput) slot.throughput = slot.throughput === null ? throughput : added(slot.throughput, throughput);
}

/** What happened in a span. */
export interface Seen {
  ok: number;
  failed: number;
  limited: number;
  latency: Total;
  throughput: Total;
}

export function sum(all: Iterable<Series>, span: Span, nowMs: number): Seen {
  const seen: Seen = { ok: 0, failed: 0, limited: 0, latency: emptyTotal(), throughput: emptyTotal() };
  for (const series of all) {
    for (const { ok, failed, limited, latency, throughput } of slotsOf(series, span, nowMs)) {
      seen.ok += ok;
      seen.failed += failed;
      seen.limited += limited;
      if (latency) addTo(seen.latency, latency);
      if (throughput) addTo(seen.throughput, throughput);
    }
  }
  return seen;
}

/** How many attempts succeeded and failed in a span: `sum` without the rest of its work. */
export function outcomesIn(all: Iterable<Series>, span: Span, nowMs: number): { ok: number; failed: number } {
  const seen = { ok: 0, failed: 0 };
  for (const series of all) {
    for (const slot of slotsOf(series, span, nowMs)) {
      seen.ok += slot.ok;
      seen.failed += slot.failed;
    }
  }
  return seen;
}
