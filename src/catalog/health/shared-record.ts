import { tryParseJson } from '../../base/json.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { SharedCooldown } from './cooldown.ts';
import { bucketCount, type Histogram } from './histogram.ts';
import { type Slot, type Span, spans } from './series.ts';

/** The data that an instance shares about a key. */
export interface SharedEntry {
  key: string;
  /** null: no cooldown to share. */
  cooldown: SharedCooldown | null;
  slots: { span: Span; slot: Slot }[];
  /** See `Entry`. */
  provenMs: number;
  /** The failures that single workspaces have met. */
  witnesses: { workspaceId: WorkspaceId; failedMs: number; cooldown: SharedCooldown }[];
}

export interface SharedRecord {
  /** The instant at which the record was written, epoch ms. */
  atMs: number;
  entries: SharedEntry[];
}

/** Raised with a change that older versions would misread: instances of two versions may run at the same time. */
const version = 2;
const maxEntries = 1_000;
const maxKeyLength = 1_000;
const maxWitnesses = 1_000;
const maxCount = 1e9;
/** The largest difference between the clocks of two instances. */
const skewMs = 60_000;

export function encodeRecord({ atMs, entries }: SharedRecord): string {
  return JSON.stringify([version, Math.round(atMs), entries.map(encodeEntry)]);
}

function encodeEntry({ key, cooldown, slots, provenMs, witnesses }: SharedEntry): unknown {
  return [
    key,
    cooldown && encodeCooldown(cooldown),
    slots.map(encodeSlot),
    Math.max(Math.round(provenMs), 0),
    witnesses.map((one) => [one.workspaceId, Math.round(one.failedMs), encodeCooldown(one.cooldown)]),
  ];
}

function encodeCooldown(cooldown: SharedCooldown): number[] {
  const { okMs, sinceMs, untilMs, lengthMs, askedSinceMs, askedUntilMs, askedClearedMs } = cooldown;
  return [okMs, sinceMs, untilMs, lengthMs, askedSinceMs, askedUntilMs, askedClearedMs].map(Math.round);
}

function encodeSlot({ span, slot }: SharedEntry['slots'][number]): unknown {
  const { number, ok, failed, limited, latency, throughput } = slot;
  return [span, number, ok, failed, limited, encodeHistogram(latency), encodeHistogram(throughput)];
}

function encodeHistogram(histogram: Histogram | null): number[] | null {
  return histogram && [histogram.first, ...histogram.counts];
}

/**
 * Checks every field: a record of another instance, or of anybody else who can write to the store, must not break this
 * one.
 * @returns null: damaged, of another version, or of a clock that is more than a minute ahead of ours
 */
export function decodeRecord(text: string, nowMs: number): SharedRecord | null {
  const parts = tryParseJson(text);
  if (!isTuple(parts, 3) || parts[0] !== version) return null;
  const [, atMs, list] = parts;
  if (!isCount(atMs) || atMs > nowMs + skewMs || !Array.isArray(list) || list.length > maxEntries) return null;
  const entries = all(list, (one) => decodeEntry(one, atMs));
  return entries && { atMs, entries };
}

function decodeEntry(value: unknown, atMs: number): SharedEntry | null {
  if (!isTuple(value, 5)) return null;
  const [key, requested, list, provenMs, seen] = value;
  if (typeof key !== 'string' || key.length > maxKeyLength || !Array.isArray(list)) return null;
  const cooldown = requested === null ? null : decodeCooldown(requested, atMs);
  if (cooldown === null && requested !== null) return null;
  if (!isCount(provenMs) || provenMs > atMs + skewMs) return null;
  const slots = all(list, decodeSlot);
  const witnesses = decodeWitnesses(seen, atMs);
  return slots && witnesses && { key, cooldown, slots, provenMs, witnesses };
}

function decodeWitnesses(value: unknown, atMs: number): SharedEntry['witnesses'] | null {
  if (!Array.isArray(value) || value.length > maxWitnesses) return null;
  return all(value, (one) => {
    if (!isTuple(one, 3)) return null;
    const [text, failedMs, requested] = one;
    const workspaceId = typeof text === 'string' ? parseWorkspaceId(text) : null;
    const cooldown = decodeCooldown(requested, atMs);
    if (workspaceId === null || cooldown === null || !isCount(failedMs) || failedMs > atMs + skewMs) return null;
    return { workspaceId, failedMs, cooldown };
  });
}

function decodeCooldown(value: unknown, atMs: number): SharedCooldown | null {
  if (!isTuple(value, 7) || !value.every(isCount)) return null;
  const [okMs, sinceMs, untilMs, lengthMs, askedSinceMs, askedUntilMs, askedClearedMs] = value as Seven;
  if (Math.max(okMs, sinceMs, askedSinceMs, askedClearedMs) > atMs + skewMs) return null;
  return { okMs, sinceMs, untilMs, lengthMs, askedSinceMs, askedUntilMs, askedClearedMs };
}

type Seven = [number, number, number, number, number, number, number];

function decodeSlot(value: unknown): SharedEntry['slots'][number] | null {
  if (!isTuple(value, 7)) return null;
  const [span, number, ok, failed, limited, first, second] = value;
  if (!isCount(span) || span >= spans.length || !isCount(number)) return null;
  if (!isSmall(ok) || !isSmall(failed) || !isSmall(limited)) return null;
  const [latency, throughput] = [decodeHistogram(first), decodeHistogram(second)];
  if (latency === undefined || throughput === undefined) return null;
  return { span: span as Span, slot: { number, ok, failed, limited, latency, throughput } };
}

/** @returns undefined: damaged */
function decodeHistogram(value: unknown): Histogram | null | undefined {
  if (value === null) return null;
  if (!Array.isArray(value) || !value.every(isSmall)) return undefined;
  const [first, ...counts] = value as number[];
  return first !== undefined && first + counts.length <= bucketCount ? { first, counts } : undefined;
}

/** @returns null if one of the values is damaged */
function all<T>(values: readonly unknown[], decode: (value: unknown) => T | null): T[] | null {
  const decoded: T[] = [];
  for (const value of values) {
    const one = decode(value);
    if (one === null) return null;
    decoded.push(one);
  }
  return decoded;
}

function isTuple(value: unknown, length: number): value is unknown[] {
  return Array.isArray(value) && value.length === length;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSmall(value: unknown): value is number {
  return isCount(value) && value <= maxCount;
}
