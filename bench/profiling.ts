import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises';

let session: Session | null = null;

/** Starts to sample this process's CPU every 100 µs. */
export async function startProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
}

/** @throws Error when no profile was started */
export async function stopProfile(): Promise<Profiler.Profile> {
  if (session === null) throw new Error('no profile was started');
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = null;
  return profile;
}

/** Starts to sample allocations, about one per 512 bytes. */
export async function startHeapProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', { samplingInterval: 512 });
}

/** @returns the live objects by place of allocation. @throws Error when no profile was started */
export async function stopHeapProfile(): Promise<HeapProfiler.SamplingHeapProfile> {
  if (session === null) throw new Error('no profile was started');
  await session.post('HeapProfiler.collectGarbage');
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  session = null;
  return profile;
}
