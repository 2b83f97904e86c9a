import { expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { createLiveTail } from '../../../src/telemetry/records/live-tail.ts';
import { createTailMail, type TailMail } from '../../../src/telemetry/records/tail-mail.ts';
import { createTailReceiver } from '../../../src/telemetry/records/tail-receiver.ts';
import { createTailSender } from '../../../src/telemetry/records/tail-sender.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const settings = recordSettingsSchema().parse({});
/** What it shows of a record is tested elsewhere. */
const record = (id: string) =>
  ({
    id,
    receivedAtMs: 0,
    generations: [],
    attempts: [],
    pipeline: [],
    stages: [],
    expensesNanoUsd: { plugins: 0, guardrails: 0, tools: 0 },
    tags: [],
    referer: null,
    promptMedia: { files: 0, audio: 0 },
  }) as unknown as RequestRecord;

/** Two instances on one store that can fail; the first is watched. */
function bench() {
  const clock: ManualClock = manualClock();
  const inner = memoryStorage(memoryLedger({ onLostHold: 'charge', now: clock.now }));
  let isDown = false;
  const fail = () => Promise.reject(new Error('down'));
  const storage: Storage = {
    ...inner,
    kind: 'sqlite',
    isShared: true,
    commit: (changes) => (isDown ? fail() : inner.commit(changes)),
    list: (...given) => (isDown ? fail() : inner.list(...given)),
  };
  const tail = createLiveTail(clock, settings);
  const mailOf = (instance: string) => createTailMail(storage, () => instance) as TailMail;
  const receiver = createTailReceiver(mailOf('first'), tail, clock, settings);
  const sender = createTailSender(mailOf('second'), clock, settings);
  const signal = new AbortController().signal;
  const stream = tail.watch({ group: null, workspaceId: null, limit: Number.POSITIVE_INFINITY, signal });
  receiver.watching();
  return {
    clock,
    close: () => receiver.close(),
    setDown(value: boolean) {
      isDown = value;
    },
    async send(id: string) {
      await sender.send(defaultWorkspaceId, [record(id)]);
      await clock.advance(settings.flushMs);
    },
    /** Ids of the records and numbers of the dropped ones that were shown. */
    async shown() {
      tail.close();
      let text = '';
      for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read())
        text += new TextDecoder().decode(bytes);
      return [...text.matchAll(/"id":"(\w+)"|"dropped":(\d+)/g)].map(([, id, count]) => id ?? Number(count));
    },
  };
}

it('while the store fails, sending rejects nothing; who watches is told what was missed, and gets the rest', async () => {
  const { clock, close, setDown, send, shown } = bench();
  await clock.advance(settings.flushMs);
  await send('a');
  // The other instance still knows who watches.
  await clock.advance(settings.flushMs / 2);
  setDown(true);
  await send('b');
  await clock.advance(10_000);
  setDown(false);
  await send('c');
  await clock.advance(settings.flushMs);
  expect(await shown()).toEqual(['a', 'c', 1]);
  await close();
});

it('an instance on a store that no other sees has no mailbox', () => {
  const storage = memoryStorage(memoryLedger({ onLostHold: 'charge', now: () => 0 }));
  expect(createTailMail(storage, () => 'x')).toBeNull();
});
