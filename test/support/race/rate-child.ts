import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { partsPerUnit } from '../../../src/stores/rates/bucket.ts';
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
  /** It stops when so many calls were refused because the tokens were used up. */
  refusals: number;
  /** How many it asks for at a time. */
  atOnce: number;
  /** true: dies at the start, with three calls in flight. */
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
const time = () => (rates.hasClock ? null : Date.now());
const result: RateChildResult = { admitted: [], refused: 0, mostInFlight: 0 };
let asked = 0;
let outOfTokens = 0;

/** @returns the id of the call; null: it was refused */
async function ask(): Promise<string | null> {
  const id = `${plan.name}-${asked++}`;
  const beforeMs = Date.now();
  const request = { id, workspaceId, accounts, tokens, isFurther: false, nowMs: time(), leaseMs: 60_000 };
  const { isAdmitted, states } = await rates.admit(request);
  if (isAdmitted) {
    result.admitted.push({ beforeMs, afterMs: Date.now() });
    for (const { inFlight } of states) result.mostInFlight = Math.max(result.mostInFlight, inFlight);
    return id;
  }
  result.refused++;
  const { tokensPerMinute } = accounts.at(-1) as LimitedAccount;
  const left = (tokensPerMinute as number) - (states.at(-1)?.tokens as number) / partsPerUnit;
  if (left < tokens) outOfTokens++;
  return null;
}

// What a first use takes, such as a connection, is over before the start. Who dies has its calls by then.
await rates.read(workspaceId, accounts, Date.now());
if (plan.isKilled) for (let calls = 0; calls < 3; calls++) await ask();

process.on('message', async (message: { startAtMs: number }) => {
  await sleep(message.startAtMs - Date.now() - 3);
  while (Date.now() < message.startAtMs);
  // Nobody gives back what it has.
  if (plan.isKilled) {
    process.send?.({ result }, () => process.kill(process.pid, 'SIGKILL'));
    return;
  }
  const work = async () => {
    while (outOfTokens < plan.refusals) {
      const id = await ask();
      await sleep(1);
      if (id !== null) await rates.end({ id, workspaceId, accounts, moreTokens: 0, nowMs: time() });
    }
  };
  await Promise.all(Array.from({ length: plan.atOnce }, work));
  await close();
  process.send?.({ result }, () => process.disconnect?.());
});
process.send?.('ready');
