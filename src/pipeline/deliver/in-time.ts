import type { PipelineDeps } from '../deps.ts';

/**
 * Waits for the beginning of a response, so that a failure before it is an ordinary error. The wait is short enough for
 * the connection to stay alive.
 * @returns null: it takes longer than a client should wait for the first byte
 */
export async function inTime<Made>(
  opening: Promise<Made>,
  { clock, keepAlive }: Pick<PipelineDeps, 'clock' | 'keepAlive'>,
): Promise<Made | null> {
  let stopWaiting: () => void = () => undefined;
  const patience = new Promise<null>((resolve) => {
    stopWaiting = clock.after(keepAlive.firstMs, () => resolve(null));
  });
  try {
    return await Promise.race([opening, patience]);
  } finally {
    stopWaiting();
  }
}
