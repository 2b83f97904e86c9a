import { added, addTo, count, emptyTotal, type Histogram, type Total } from './histogram.ts';

export type Outcome = 'ok' | 'failed' | 'limited';

/** The counts of one stretch of time. */
export interface Slot {
  /** The start of the slot since the epoch, in lengths of such a slot. */
  number: number;
  ok: number;
  failed: number;
  limited: number;
  /** Time to first token, ms; null: no values. */
  latency: Histogram | null;
  /** Output tokens per second; null: no values. */
  throughput: Histogram | null;
}

/**
 * Rolling spans, divided into slots. A span is the current slot and the slots before it. So a span holds nothing
 * older than its length, and covers up to one slot less.
 */
export const spans = [
  // For outages; only outcomes.
  { slotMs: 5_000, slots: 6 },
  { slotMs: 60_000, slots: 5 },
  { slotMs: 300_000, slots: 6 },
  { slotMs: 3_600_000, slots: 24 },
] as const;

/** Indices of `spans`. */
export const [last30s, last5m, last30m, last1d] = [0, 1, 2, 3] as const;
export type Span = 0 | 1 | 2 | 3;

export interface Series {
  /** For each span, its slots in a ring: new slots overwrite slots that are out of date. */
  rings: (Slot | undefined)[][];
  /**
   * The current slots, by span, and the number of the shortest one. While that one lasts, all of them stay the same.
   */
  current: Slot[];
  currentNumber: number;
}

export function createSeries(): Series {
  return { rings: spans.map(() => []), current: [], currentNumber: -1 };
}

/** @param latencyBucket  -1: no value; the same for throughput */
export function record(
  series: Series,
  nowMs: number,
  outcome: Outcome | undefined,
  latencyBucket: number,
  throughputBucket: number,
): void {
  const number = slotNumber(last30s, nowMs);
  // One check for all spans: every other length is a multiple of the shortest.
  if (number !== series.currentNumber) open(series, nowMs, number);
  const { current } = series;
  for (let span: Span = last30s; span <= last1d; span++) {
    const slot = current[span] as Slot;
    // Not `slot[outcome]++`: access by a varying property name is slower.
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

/** The current slot. */
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

/** Puts a slot in its place of the ring, unless the slot there is later. */
export function place({ rings }: Series, span: Span, slot: Slot): void {
  const ring = rings[span] as (Slot | undefined)[];
  const at = slot.number % spans[span].slots;
  const known = ring[at];
  if (known === undefined || known.number <= slot.number) ring[at] = slot;
}

/** The number of the current slot. */
export function slotNumber(span: Span, nowMs: number): number {
  return Math.floor(nowMs / spans[span].slotMs);
}

/**
 * The slots of a span at a moment, in no order.
 * @param ahead  includes this many future slots, which come from clocks that are ahead
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
 * Adds up several series in the spans that every request needs, so that the request need not.
 * @param all  at least one
 */
export function combine(all: readonly Series[], nowMs: number): Series {
  const [first] = all;
  if (all.length === 1 && first !== undefined) return first;
  const combined = createSeries();
  for (const span of [last30s, last5m] as const) {
    // Not a ring: a slot from a clock that is ahead must not overwrite a current one.
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

/** Adds to a slot. Replaces its histograms instead of writing to them: another slot may share them. */
function add(slot: Slot, { ok, failed, limited, latency, throughput }: Slot): void {
  slot.ok += ok;
  slot.failed += failed;
  slot.limited += limited;
  if (latency) slot.latency = slot.latency === null ? latency : added(slot.latency, latency);
  if (throughput) slot.throughput = slot.throughput === null ? throughput : added(slot.throughput, throughput);
}

/** The sums of a span. */
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

/** The number of successful and failed attempts in a span: like `sum`, without its other work. */
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
