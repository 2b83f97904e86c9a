import { GCProfiler, type GCProfilerResult } from 'node:v8';

/** The work of the garbage collector. */
export interface Collected {
  /** Size of new objects, in bytes. */
  allocated: number;
  /** Size of the new objects that survived the cheap collections, in bytes. Only a full collection can free them. */
  promoted: number;
  /** How long the collector stopped JavaScript, in microseconds. */
  pausedUs: number;
}

let profiler: GCProfiler | null = null;

/** Starts to record every collection. */
export function startCollecting(): void {
  profiler = new GCProfiler();
  profiler.start();
}

/** @throws Error when recording was not started */
export function stopCollecting(): Collected {
  const collections = profiler?.stop().statistics;
  profiler = null;
  if (!collections) throw new Error('no collections were recorded');
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
