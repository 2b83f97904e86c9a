import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LedgerRacePlan, makeCalls } from './ledger-calls.ts';
import { type LedgerSpending, spendWithJournal } from './ledger-spending.ts';
import { openLedger } from './ledgers.ts';
import type { StoreAt } from './stores.ts';

// A process of its own: it reports when it is ready, gets the time to start, and reports what came of it.

export type LedgerChildPlan = { at: StoreAt } & ({ race: LedgerRacePlan } | { spending: LedgerSpending });

const plan: LedgerChildPlan = JSON.parse(process.argv[2] ?? '');
const { ledger, close } = openLedger(plan.at);
const first = 'race' in plan ? plan.race : plan.spending;
// What a first use takes, such as a connection, is over before the start.
await ledger.read(first.workspaceId, first.windows);

let isOver = false;
process.on('message', async (message: { startAtMs: number } | 'stop') => {
  if (message === 'stop') {
    isOver = true;
    return;
  }
  await sleep(message.startAtMs - Date.now() - 3);
  while (Date.now() < message.startAtMs);
  const result =
    'race' in plan
      ? await makeCalls(ledger, plan.race)
      : await spendWithJournal(ledger, plan.spending, () => isOver).then(() => 'stopped');
  await close();
  process.send?.({ result }, () => process.disconnect?.());
});
process.send?.('ready');
