import { answerParent } from './control.ts';
import { loadCommands } from './load.ts';
import { upstreamCommands } from './upstream.ts';

/** Everybody but the server under test, in one process: the model provider and the load generator. */

/**
 * Does not let the process sleep while `run` is in flight. Whoever writes to a sleeping process pays for waking it, which
 * in a virtual machine takes up to 10 µs; and pays it the more often the less there is to do here. In that measurement
 * the slower of two servers was slower still, by up to a tenth. Where providers and clients are on machines of their own,
 * nobody pays it.
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

answerParent({
  ...upstreamCommands,
  ...others,
  rate: (question: Parameters<typeof rate>[0]) => awake(() => rate(question)),
  latencies: (question: Parameters<typeof latencies>[0]) => awake(() => latencies(question)),
});
