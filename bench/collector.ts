import { GCProfiler, type GCProfilerResult } from 'node:v8';

/** What the collector had to do. */
export interface Collected {
  /** New objects, in bytes. */
  allocated: number;
  /** Of these, what outlived the cheap collections and waits for a full one, in bytes. */
  promoted: number;
  /** How long JavaScript stood still for it, in microseconds. */
  pausedUs: number;
}

let profiler: GCProfiler | null = null;

/** Notes every collection from now on. */
export function startCollecting(): void {
  profiler = new GCProfiler();
  profiler.start();
}

/** @throws Error when nothing was started */
export function stopCollecting(): Collected {
  const collections = profiler?.stop().statistics;
  profiler = null;
  if (!collections) throw new Error('no collections were noted');
  const collected: Collected = { allocated: 0, promoted: 0, pausedUs: 0 };
  let left: number | null = null;
  for (const { gcType, beforeGC, afterGC, cost } of collections) {
    const [before, after] = [spacesOf(beforeGC.heapSpaceStatistics), spacesOf(afterGC.heapSpaceStatistics)];
    collected.pausedUs += cost;
    if (left !== null) collected.allocated += before.young - left;
    if (gcType === 'Scavenge') collected.promoted += Math.max(after.old - before.old, 0);
    left = after.young;
  }
  return collected;
}

/** Bytes in use. */
function spacesOf(spaces: GCProfilerResult['statistics'][number]['beforeGC']['heapSpaceStatistics']) {
  const bytes = { young: 0, old: 0 };
  for (const { spaceName, spaceUsedSize } of spaces)
    bytes[spaceName.startsWith('new_') ? 'young' : 'old'] += spaceUsedSize;
  return bytes;
}
