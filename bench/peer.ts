import { serveParent } from './control.ts';
import { loadCommands } from './load.ts';
import { upstreamCommands } from './upstream.ts';

/** The other side of the server under test, in one process: the model provider and the load generator. */

/**
 * Keeps this process awake until `run` ends. A write to a sleeping process has to wake it, which takes the writer up to
 * 10 µs in a virtual machine. The less work this process has, the more often it sleeps: the slower of two servers then
 * looked even slower, by up to a tenth. In production, providers and clients run on other machines, so a server does
 * not have this cost.
 */
async function awake<T>(run: () => Promise<T>): Promise<T> {
  let isOver = false;
  const turn = () => {
    if (!isOver) setImmediate(turn);
  };
  turn();
  try {
    return await run();
  } finally {
    isOver = true;
  }
}

const { rate, latencies, ...others } = loadCommands;

serveParent({
  ...upstreamCommands,
  ...others,
  rate: (question: Parameters<typeof rate>[0]) => awake(() => rate(question)),
  latencies: (question: Parameters<typeof latencies>[0]) => awake(() => latencies(question)),
});
