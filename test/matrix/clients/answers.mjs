// What the gateway's records say of what a client saw; shared by suites with different packages.
import { deepEqual, equal, ok } from 'node:assert/strict';

/** How soon an upstream is let go of once the client has left. */
const abortMs = 50;
const abortTries = 3;
/** How often a client may lose an abort before it counts. */
const lostAborts = 12;

/**
 * Leaves in the middle of a request: the upstream is let go of in time, and the gateway's record says cancelled.
 * @param start  begins a request; resolves in its middle with the function that leaves. This resolves with false where
 *               the client lost the abort and read on to the end
 */
export async function checkLeaving(service, start) {
  const took = [];
  let lost = 0;
  while (took.length < abortTries) {
    service.begin();
    const leave = await start();
    const { stopped } = await service.nextSent();
    const leftMs = performance.now();
    const hasLeft = await leave();
    const tookMs = (await stopped) - leftMs;
    const record = await service.nextRecord();
    if (hasLeft === false) {
      if (++lost === lostAborts) throw new Error(`the client lost all of ${lost} aborts`);
      continue;
    }
    took.push(tookMs);
    deepEqual([record.outcome, record.status], ['cancelled', 499]);
    equal(record.attempts.length, 1);
    // A pause of a busy machine is not the gateway's: the quickest of a few counts.
    if (took.at(-1) <= abortMs) return;
  }
  throw new Error(`the upstream was let go of after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`);
}

/** What the gateway's record says of a stream that broke off. */
export async function checkCut(service) {
  const { outcome, status } = await service.nextRecord();
  deepEqual([outcome, status], ['cut', 502]);
}

/** Token counts of a client add up and are the gateway's. */
export async function checkUsage(service, { input, output, total }) {
  const { usage, costNanoUsd, outcome } = await service.nextRecord();
  equal(outcome, 'ok');
  ok(costNanoUsd > 0, 'a cost is recorded');
  deepEqual([input, output, total], [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]);
}
