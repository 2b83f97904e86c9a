import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { LimitedAccount } from '../../../src/stores/rates/rates.ts';
import { openRates } from './rate-story.ts';
import type { StoreAt } from './stores.ts';

// A process of its own: it asks for calls as fast as it can, and ends some of those that it gets.

export interface RateChildPlan {
  at: StoreAt;
  name: string;
  workspaceId: WorkspaceId;
  accounts: readonly LimitedAccount[];
  tokens: number;
  calls: number;
  /** How many it asks for at a time. */
  atOnce: number;
  /** true: dies in the middle, with calls in flight. */
  isKilled: boolean;
}

export interface RateChildResult {
  /** When each call was admitted, epoch ms, by the clock of this machine: not before, and not after. */
  admitted: { beforeMs: number; afterMs: number }[];
  refused: number;
  /** The most calls in flight that the store has reported. */
  mostInFlight: number;
}

const plan: RateChildPlan = JSON.parse(process.argv[2] ?? '');
const { rates, close } = openRates(plan.at);
const { workspaceId, accounts, tokens } = plan;
// What a first use takes, such as a connection, is over before the start.
await rates.read(workspaceId, accounts, Date.now());

process.on('message', async (message: { startAtMs: number }) => {
  await sleep(message.startAtMs - Date.now() - 3);
  while (Date.now() < message.startAtMs);
  const result: RateChildResult = { admitted: [], refused: 0, mostInFlight: 0 };
  let asked = 0;
  const work = async () => {
    for (;;) {
      const number = asked++;
      if (number >= plan.calls) return;
      const id = `${plan.name}-${number}`;
      const time = () => (rates.hasClock ? null : Date.now());
      const beforeMs = Date.now();
      const outcome = await rates.admit({
        id,
        workspaceId,
        accounts,
        tokens,
        isFurther: false,
        nowMs: time(),
        leaseMs: 60_000,
      });
      const afterMs = Date.now();
      if (!outcome.isAdmitted) {
        result.refused++;
        await sleep(1);
        continue;
      }
      result.admitted.push({ beforeMs, afterMs });
      for (const { inFlight } of outcome.states) result.mostInFlight = Math.max(result.mostInFlight, inFlight);
      // Dies with what it has: nobody gives that back.
      if (plan.isKilled) {
        if (result.admitted.length < 3) continue;
        process.send?.({ result }, () => process.kill(process.pid, 'SIGKILL'));
        return sleep(60_000);
      }
      await sleep(2);
      await rates.end({ id, workspaceId, accounts, moreTokens: 0, nowMs: time() });
    }
  };
  await Promise.all(Array.from({ length: plan.atOnce }, work));
  await close();
  process.send?.({ result }, () => process.disconnect?.());
});
process.send?.('ready');
