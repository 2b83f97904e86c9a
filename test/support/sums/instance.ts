import type { Clock } from '../../../src/base/clock.ts';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';
import type { Transport } from '../../../src/transport/transport.ts';

/** The process of a gateway, which can stop: for good, or until it is woken. */
export interface Process {
  clock: Clock;
  ledger: Ledger;
  transport: Transport;
  /** Nothing that it has asked for is answered to it, and no timer of it runs. What it has sent arrives. */
  stop(): void;
  wake(): void;
  /** From now on, so many calls of the ledger fail; of every second one, the step is taken all the same. */
  failLedger(calls: number): void;
}

/** @param shared  what all processes have in common */
export function processOn(shared: { clock: Clock; ledger: Ledger; transport: Transport }): Process {
  let awake: Promise<void> | null = null;
  let wake: () => void = () => undefined;
  let failing = 0;

  const whileAwake = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    while (awake !== null) await awake;
    return result();
  };
  const asked =
    <Given extends unknown[], Result>(step: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await whileAwake(Promise.resolve());
      if (failing > 0) {
        if (failing-- % 2 === 0) await step(...given);
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      }
      return whileAwake(step(...given));
    };
  const { ledger, transport, clock } = shared;
  return {
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, callback, options) => {
        let isCancelled = false;
        const run = async () => {
          while (awake !== null) await awake;
          if (!isCancelled) callback();
        };
        const cancel = clock.after(ms, () => (awake === null ? callback() : void run()), options);
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    },
    ledger: {
      hold: asked(ledger.hold),
      settle: asked(ledger.settle),
      release: asked(ledger.release),
      renew: asked(ledger.renew),
      expire: asked(ledger.expire),
      lost: asked(async (...since) => (await ledger.lost?.(...since)) ?? []),
      add: asked(ledger.add),
      read: asked(ledger.read),
      forget: asked(ledger.forget),
    },
    transport: {
      async send(request) {
        await whileAwake(Promise.resolve());
        const response = await whileAwake(transport.send(request));
        const { body } = response;
        return { ...response, body: { read: () => whileAwake(body.read()), cancel: () => body.cancel() } };
      },
    },
    stop() {
      awake ??= new Promise((resolve) => {
        wake = resolve;
      });
    },
    wake() {
      awake = null;
      wake();
    },
    failLedger(calls) {
      failing = calls;
    },
  };
}
