import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises';

let session: Session | null = null;

/** Starts sampling this process's CPU, every 100 µs. */
export async function startProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
}

/** @throws Error when none was started */
export async function stopProfile(): Promise<Profiler.Profile> {
  if (session === null) throw new Error('no profile was started');
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = null;
  return profile;
}

/** Starts to note where objects are made, one in about 512 bytes. */
export async function startHeapProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', { samplingInterval: 512 });
}

/** @returns the objects that are still alive, by where they were made. @throws Error when nothing was started */
export async function stopHeapProfile(): Promise<HeapProfiler.SamplingHeapProfile> {
  if (session === null) throw new Error('no profile was started');
  await session.post('HeapProfiler.collectGarbage');
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  session = null;
  return profile;
}
