import type { FairCache } from '../../base/fair-cache.ts';
import type { CooldownSettings } from '../../schema/settings/settings.ts';
import type { HealthKind } from '../../stores/health-records.ts';
import { type Cooldown, merge, type SharedCooldown } from './cooldown.ts';
import { createEntry, type Entry } from './entry.ts';
import { combine, createSeries, place, type Series } from './series.ts';
import { decodeRecord, type SharedRecord } from './shared-record.ts';
import { weigh, witnessOf } from './witness.ts';

/**
 * The observations of other instances. They are kept beside our own, and the next record of an instance replaces its
 * last.
 */
export interface Peers {
  /**
   * Takes all records of a kind that the store holds.
   * @returns the records of instances that have been silent for too long, which can be deleted
   */
  take(
    kind: HealthKind,
    records: readonly { id: string; value: string }[],
    nowMs: number,
  ): { id: string; value: string }[];
}

interface Peer {
  /** The texts of the records. A record whose text has not changed is not decoded again. */
  texts: Partial<Record<HealthKind, string>>;
  records: Partial<Record<HealthKind, SharedRecord | null>>;
  /** The keys of the entries that hold observations of this instance. */
  keys: Set<string>;
}

export interface PeersDeps {
  /** The id of our own records. */
  instance: string;
  entries: Pick<FairCache<string, Entry>, 'peek' | 'set'>;
  /** No cooldown after failures that is taken over from another instance is longer than these allow. */
  settings: CooldownSettings;
}

/** An instance counts as gone this long after its last record of a kind. */
const silentMs: Record<HealthKind, number> = { recent: 30 * 60_000, history: 24 * 3_600_000 };
/**
 * The group of keys that only other instances know, until a workspace uses them here. A workspace may make other
 * instances share many keys.
 */
const groupOfPeers = 'peers';
/** The longest requested cooldown that is taken over from another instance. */
const maxAskedMs = 24 * 3_600_000;

export function createPeers({ instance, entries, settings }: PeersDeps): Peers {
  const peers = new Map<string, Peer>();
  /** The entries whose `others` have changed. */
  const touched = new Set<Entry>();

  function peerOf(id: string): Peer {
    const known = peers.get(id);
    if (known !== undefined) return known;
    const peer: Peer = { texts: {}, records: {}, keys: new Set() };
    peers.set(id, peer);
    return peer;
  }

  function entryOf(key: string): Entry {
    const known = entries.peek(key);
    if (known !== undefined) return known;
    const entry = createEntry();
    entries.set(groupOfPeers, key, entry);
    return entry;
  }

  /** @param from  the new record, whose cooldowns are new as well */
  function apply(id: string, peer: Peer, from: SharedRecord | null, nowMs: number): void {
    const seen = new Map<string, Series>();
    // In this order: for a slot in both records, `recent` knows more.
    for (const record of [peer.records.history, peer.records.recent]) {
      for (const { key, slots } of record?.entries ?? []) {
        if (slots.length === 0) continue;
        const series = seen.get(key) ?? createSeries();
        seen.set(key, series);
        for (const { span, slot } of slots) place(series, span, slot);
      }
    }
    for (const key of peer.keys) if (!seen.has(key)) forget(key, id);
    for (const [key, series] of seen) {
      const entry = entryOf(key);
      entry.others ??= new Map();
      entry.others.set(id, series);
      touched.add(entry);
    }
    peer.keys = new Set(seen.keys());
    for (const { key, cooldown, provenMs, witnesses } of from?.entries ?? []) {
      if (cooldown === null) continue;
      const entry = entryOf(key);
      mergeBounded(entry.cooldown, cooldown, nowMs);
      entry.provenMs = Math.max(entry.provenMs, provenMs);
      for (const { workspaceId, failedMs, cooldown: theirs } of witnesses) {
        const witness = witnessOf(entry, workspaceId);
        mergeBounded(witness.cooldown, theirs, nowMs);
        witness.failedMs = Math.max(witness.failedMs, failedMs);
      }
      if (witnesses.length > 0) weigh(entry, nowMs, settings);
    }
  }

  function mergeBounded(cooldown: Cooldown, other: SharedCooldown, nowMs: number): void {
    merge(cooldown, {
      ...other,
      untilMs: Math.min(other.untilMs, nowMs + settings.maxCooldownMs),
      lengthMs: Math.min(other.lengthMs, settings.maxCooldownMs),
      askedUntilMs: Math.min(other.askedUntilMs, nowMs + maxAskedMs),
    });
  }

  function forget(key: string, id: string): void {
    const entry = entries.peek(key);
    if (!entry?.others?.delete(id)) return;
    if (entry.others.size === 0) entry.others = null;
    touched.add(entry);
  }

  function recombine(nowMs: number): void {
    for (const entry of touched) {
      entry.combined = entry.others && combine([...entry.others.values()], nowMs);
      entry.version++;
    }
    touched.clear();
  }

  function drop(id: string, peer: Peer, kind: HealthKind, nowMs: number): void {
    if (peer.texts[kind] === undefined) return;
    delete peer.texts[kind];
    delete peer.records[kind];
    apply(id, peer, null, nowMs);
    if (Object.keys(peer.texts).length === 0) peers.delete(id);
  }

  return {
    take(kind, records, nowMs) {
      const silent: { id: string; value: string }[] = [];
      const heard = new Set<string>();
      for (const { id, value } of records) {
        if (id === instance || heard.has(id)) continue;
        const peer = peerOf(id);
        const isKnown = peer.texts[kind] === value;
        const record = isKnown ? peer.records[kind] : decodeRecord(value, nowMs);
        if (record && record.atMs < nowMs - silentMs[kind]) {
          silent.push({ id, value });
          continue;
        }
        heard.add(id);
        if (isKnown) continue;
        peer.texts[kind] = value;
        peer.records[kind] = record ?? null;
        apply(id, peer, record ?? null, nowMs);
      }
      for (const [id, peer] of peers) {
        if (heard.has(id)) continue;
        drop(id, peer, kind, nowMs);
        if (Object.keys(peer.texts).length === 0) peers.delete(id);
      }
      recombine(nowMs);
      return silent;
    },
  };
}
