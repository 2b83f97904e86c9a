import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Gateway } from '../../../src/gateway.ts';
import { errorBodySchema } from '../../../src/schema/chat/envelope.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { byokKey, newTenant, statesOf, windowsOf } from './books.ts';
import { manage, movableClock, raceGateway, raceManagementKey } from './gateway.ts';
import { play, raceRequest } from './requests.ts';
import { type Booked, costsIn } from './run.ts';
import type { OpenedStore } from './stores.ts';
import { raceTransport } from './upstream.ts';

/** What no request may take: three steps of 250 ms at the store, and what a busy machine adds to them. */
const longestMs = 2_500;
/** How soon all is served again once the store is well, and the books are complete. */
const recoveryMs = 20_000;
/** Noon: no window turns. */
const noonMs = Date.UTC(2092, 4, 14, 12);
const workersPerGateway = 6;

export interface Fault {
  /** One connection to the store, as a process has it. */
  open: () => OpenedStore;
  /** Breaks the store, waits, mends it. */
  harm: () => Promise<void>;
  /** true: the store may serve all the while. */
  mayBeHarmless?: boolean;
  /** true: what asks the store for records alone, and no sums, goes on through this fault. */
  readsGoOn?: boolean;
  /** The option `budgets.escrow`. */
  escrow?: boolean;
}

/**
 * Two gateways under load, one that asks its store every time and one that remembers, while the store is harmed. Every
 * answer is the right one or a 503 in the envelope, and soon; nobody becomes unknown, no limit and no credential is
 * taken for absent; all is served again without a restart, and the books are right in the end.
 */
export async function survivesFault({
  open,
  harm,
  mayBeHarmless = false,
  readsGoOn = false,
  escrow = false,
}: Fault): Promise<void> {
  const wrong: unknown[] = [];
  const onRejection = (reason: unknown) => void wrong.push({ unhandled: String(reason) });
  process.on('unhandledRejection', onRejection);
  const clock = movableClock(noonMs);
  const booked: Booked[] = [];
  const onRecord = (record: RequestRecord) => {
    const { apiKeyHash, receivedAtMs } = record;
    booked.push({ apiKeyHash: apiKeyHash as string, receivedAtMs, ...costsIn(record) });
  };
  const transport = checkedTransport(wrong);
  const opened = [open(), open(), open()] as const;
  const [forgetful, mindful] = opened.slice(0, 2).map(({ store }, at) =>
    raceGateway(store, {
      clock,
      transport,
      onRecord,
      storeCacheMs: at === 0 ? 0 : 5_000,
      // A busy machine is no fault of a provider.
      timeouts: {},
      budgets: { escrow },
    }),
  ) as [Gateway, Gateway];
  const storage = chooseStorage(opened[2].store, { clock, timeoutMs: 10_000, onLostHold: 'charge' });
  try {
    await untilServed(forgetful);
    const budgets = { daily: 1_000, lifetime: 1_000 };
    const rich = await newTenant(forgetful, { budgets, keys: [{ limit: 1_000, limit_reset: 'weekly' }] });
    const poor = await newTenant(forgetful, { budgets: { lifetime: 0.000001 }, keys: [] });
    const disabled = await manage(forgetful, 'POST', '/keys', { name: 'Off', workspace_id: rich.workspaceId });
    await manage(forgetful, 'PATCH', `/keys/${disabled.data.hash}`, { disabled: true });
    const [first, limited] = rich.keys.map(({ key }) => key) as [string, string];
    const spend = (key: string, wanted: number, named?: object) => async (gateway: Gateway, seed: number) => {
      const request = { ...raceRequest(seed, 1), leaves: null, timeoutMs: null };
      const { status, error } = await play(
        gateway,
        named ? { ...request, body: { ...request.body, ...named } } : request,
        key,
      );
      return { status, json: { error }, isRight: status === wanted };
    };
    const read =
      (path: string, isRight: (json: never) => boolean, key = raceManagementKey) =>
      async (gateway: Gateway) => {
        const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const json = JSON.parse(await response.text());
        return { status: response.status, json, isRight: response.status === 200 && isRight(json as never) };
      };
    const load = startLoad([forgetful, mindful], wrong, {
      spend: spend(first, 200),
      'spend with a limit of the key': spend(limited, 200),
      'spend what is not there': spend(poor.keys[0]?.key as string, 402, { model: 'race/one', models: undefined }),
      'spend with a key that is switched off': spend(disabled.key, 401),
      'spend through a credential': spend(first, 200, { model: 'race/byok', models: undefined, max_tokens: 20 }),
      'read the key': read('/key', ({ data }: { data: { limit: number } }) => data.limit === 1_000, limited),
      'read a key': read(`/keys/${rich.keys[0]?.hash}`, ({ data }: { data: { disabled: boolean } }) => !data.disabled),
      'list keys': read(`/keys?workspace_id=${rich.workspaceId}`, ({ data }: { data: object[] }) => data.length === 2),
      // Not its budgets: what is spent of them cannot be told while nothing can be booked.
      'look at a workspace': read(
        `/workspaces/${rich.workspaceId}`,
        ({ data }: { data: { id: string } }) => data.id === rich.workspaceId,
      ),
      'look at a credential': read(
        `/byok/${rich.credentialId}`,
        ({ data }: { data: { id: string } }) => data.id === rich.credentialId,
      ),
    });
    await load.isServed();
    const before = load.refused();
    await harm();
    const refused = load.refused() - before;
    await load.isServed();
    const slowestMs = await load.stop();
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(slowestMs).toBeLessThan(longestMs);
    if (!mayBeHarmless) expect(refused).toBeGreaterThan(0);
    // But for those that come too late on a busy machine.
    if (readsGoOn) expect(load.refusedReads()).toBeLessThan(load.reads() / 10);
    const windows = windowsOf(rich, [noonMs]);
    // What could not be booked during the fault is booked now; what was held and lost is let go of.
    await expect
      .poll(() => storage.ledger.read(rich.workspaceId, windows), { timeout: recoveryMs, interval: 100 })
      .toEqual(statesOf(rich, windows, booked));
    expect(booked.length).toBeGreaterThan(50);
  } finally {
    await Promise.all([forgetful.close(), mindful.close(), storage.close()]);
    for (const { close } of opened) await close();
    process.off('unhandledRejection', onRejection);
  }
}

/** What is to be served through the workspace's own credential is never sent with the operator's. */
function checkedTransport(wrong: unknown[]): Transport {
  const { send } = raceTransport({ isReliable: true });
  return {
    send(request) {
      const isByok = new URL(request.url).host === 'groq.test';
      if (isByok && request.headers.authorization !== `Bearer ${byokKey}`)
        wrong.push({ sentWith: 'the wrong credential' });
      return send(request);
    },
  };
}

/** A gateway may be opened before its store is there. */
async function untilServed(gateway: Gateway): Promise<void> {
  await expect
    .poll(() => manage(gateway, 'GET', '/workspaces').then(() => true, String), { timeout: recoveryMs, interval: 50 })
    .toBe(true);
}

type Ask = (gateway: Gateway, seed: number) => Promise<{ status: number; json: unknown; isRight: boolean }>;

function startLoad(gateways: readonly Gateway[], wrong: unknown[], asks: Record<string, Ask>) {
  const names = Object.keys(asks);
  /** When something was last served that had been asked then, by gateway and name. */
  const servedMs = new Map<string, number>();
  let [isOver, refused, reads, refusedReads, refusedAtMs, slowestMs, seed] = [false, 0, 0, 0, 0, 0, 0];

  async function ask(gatewayAt: number, name: string): Promise<void> {
    const startedMs = performance.now();
    const { status, json, isRight } = await (asks[name] as Ask)(gateways[gatewayAt] as Gateway, ++seed);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    if (name.startsWith('look')) reads++;
    if (isRight) {
      servedMs.set(`${gatewayAt} ${name}`, startedMs);
      return;
    }
    const isRefusal = status === 503 && errorBodySchema().safeParse(json).data?.error.code === 503;
    if (!isRefusal) wrong.push({ name, status, json });
    refused++;
    refusedAtMs = performance.now();
    if (name.startsWith('look')) refusedReads++;
    await sleep(5);
  }
  const work = async (gatewayAt: number, worker: number) => {
    for (let turn = worker; !isOver; turn++) await ask(gatewayAt, names[turn % names.length] as string);
  };
  const working = Promise.all(
    gateways.flatMap((_, gatewayAt) =>
      Array.from({ length: workersPerGateway }, (_, worker) => work(gatewayAt, worker)),
    ),
  );
  // Told when it is stopped.
  working.catch(() => undefined);

  return {
    refused: () => refused,
    reads: () => reads,
    refusedReads: () => refusedReads,
    /** Until everything is served, and has been for a while. */
    async isServed(): Promise<void> {
      const sinceMs = performance.now();
      for (;;) {
        const nowMs = performance.now();
        const isEach = gateways.every((_, at) =>
          names.every((name) => (servedMs.get(`${at} ${name}`) ?? 0) >= sinceMs),
        );
        if (isEach && nowMs - refusedAtMs > 300) return;
        if (nowMs - sinceMs > recoveryMs) throw new Error(`It never recovered: ${JSON.stringify(wrong.slice(0, 3))}`);
        await sleep(20);
      }
    },
    async stop(): Promise<number> {
      isOver = true;
      await working;
      return slowestMs;
    },
  };
}
