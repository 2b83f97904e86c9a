import { within } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Rates } from '../rates/rates.ts';
import { type Circuit, createCircuit, NotSentError } from './circuit.ts';
import { type StoreLogger, writeLog } from './logger.ts';
import { isFull, isOutage, isReadOnly, nameOfError, StoreTimeoutError, storeIsLate } from './outage.ts';
import type { Address, Storage } from './storage.ts';

export interface GuardOptions {
  clock: Clock;
  /** The time limit of every call. */
  timeoutMs: number;
  logger?: StoreLogger | null;
  /** Learns of a call that the store refused because nothing can be written there. */
  onRefusedWrite?: (error: unknown) => void;
  /** After this many time-outs and lost connections in a row, calls fail at once. Default 5. */
  circuitFailures?: number;
  /** The time in ms between two calls from then on, until the server responds to one. Default 100. */
  circuitProbeMs?: number;
}

/** The shortest time between two log lines about refused calls. */
const logRefusalEveryMs = 10_000;

/** Runs a call of the store within its limits. */
type Bound = <T>(operation: string, work: () => T | Promise<T>) => Promise<T>;

/**
 * Wraps a storage and its ledger. Every call ends within the time limit: with a result, or with GatewayError
 * unavailable (503), which has the server's error only as its cause. A call that was given up may still take effect. A
 * GatewayError is passed on, and counts as a response.
 *
 * Records, ledger and rates each have a circuit, because they may be on different servers.
 */
export function guardStorage(storage: Storage, options: GuardOptions): Storage {
  const records = guard('records', storage.kind, options);
  const { kind, isShared } = storage;
  return {
    kind,
    isShared,
    ledger: guardLedger(storage.ledger, guard('ledger', storage.kind, options)),
    rates: guardRates(storage.rates, guard('rates', storage.kind, options)),
    async get(at) {
      check([at]);
      return records('get', () => storage.get(at));
    },
    async getMany(at) {
      check(at);
      return records('getMany', () => storage.getMany(at));
    },
    async commit(changes) {
      check(changes.map(({ at }) => at));
      return records('commit', () => storage.commit(changes));
    },
    async list(partition, ofKind, page) {
      check([{ partition, kind: ofKind, id: 'any' }]);
      return records('list', () => storage.list(partition, ofKind, page));
    },
    ...(storage.seek && {
      async seek(partition, ofKind, range) {
        check([{ partition, kind: ofKind, id: 'any' }]);
        return records('seek', () => (storage.seek as NonNullable<Storage['seek']>)(partition, ofKind, range));
      },
    }),
    ...(storage.seekAll && {
      async seekAll(asked) {
        for (const { partition, kind: ofKind } of asked) check([{ partition, kind: ofKind, id: 'any' }]);
        return records('seekAll', () => (storage.seekAll as NonNullable<Storage['seekAll']>)(asked));
      },
    }),
    // `close` also runs while the circuit is open, and does not fail when the server is away.
    close: () =>
      within(options.clock, options.timeoutMs, () => storage.close(), storeIsLate).catch((error: unknown) => {
        writeLog(options.logger, 'warn', { store: kind, error: nameOfError(error) }, 'store was not closed');
      }),
  };
}

function guardLedger(ledger: Ledger, bound: Bound): Ledger {
  return {
    hold: (request) => bound('hold', () => ledger.hold(request)),
    settle: (workspaceId, id, actualNanoUsd) => bound('settle', () => ledger.settle(workspaceId, id, actualNanoUsd)),
    release: (...hold) => bound('release', () => ledger.release(...hold)),
    ...(ledger.draw
      ? { draw: (...drawn) => bound('draw', async () => (await ledger.draw?.(...drawn)) ?? 'unknown') }
      : {}),
    renew: (...holds) => bound('renew', () => ledger.renew(...holds)),
    expire: (workspaceId) => bound('expire', () => ledger.expire(workspaceId)),
    ...(ledger.lost ? { lost: (...since) => bound('lost', async () => (await ledger.lost?.(...since)) ?? []) } : {}),
    add: (...additions) => bound('add', () => ledger.add(...additions)),
    read: (...windows) => bound('read', () => ledger.read(...windows)),
    forget: (workspaceId) => bound('forget', () => ledger.forget(workspaceId)),
  };
}

function guardRates(rates: Rates, bound: Bound): Rates {
  return {
    hasClock: rates.hasClock,
    admit: (request) => bound('admit', () => rates.admit(request)),
    end: (ending) => bound('end', () => rates.end(ending)),
    renew: (...calls) => bound('renew', () => rates.renew(...calls)),
    read: (...accounts) => bound('read', () => rates.read(...accounts)),
    forget: (workspaceId) => bound('forget', () => rates.forget(workspaceId)),
  };
}

function guard(part: 'records' | 'ledger' | 'rates', store: Storage['kind'], options: GuardOptions): Bound {
  const { clock, timeoutMs, logger, circuitFailures = 5, circuitProbeMs = 100 } = options;
  /** The error that has opened the circuit. */
  let openedBy: unknown;
  let refusedMs = Number.NEGATIVE_INFINITY;
  /** The operation that was refused because nothing can be written; null: none since one was accepted. */
  let unwritten: string | null = null;
  /** Logs a refusal. A server that refuses one call refuses many: one line for all of them, from time to time. */
  function logRefusal(operation: string, error: unknown): void {
    const nowMs = clock.monotonic();
    const todo = todoFor(error);
    if (todo !== null) {
      unwritten = operation;
      options.onRefusedWrite?.(error);
    }
    if (nowMs - refusedMs < logRefusalEveryMs) return;
    refusedMs = nowMs;
    const fields = { store, part, operation, error: nameOfError(error), ...(todo === null ? {} : { todo }) };
    writeLog(logger, 'warn', fields, 'store refused a call');
  }
  /** Says once that the store takes again what it has refused. */
  function logAcceptance(operation: string): void {
    if (operation !== unwritten) return;
    unwritten = null;
    refusedMs = Number.NEGATIVE_INFINITY;
    writeLog(logger, 'info', { store, part, operation }, 'store accepts writes again');
  }
  const circuit: Circuit = createCircuit({
    clock,
    failures: circuitFailures,
    probeMs: circuitProbeMs,
    onOpen: (cause) => {
      openedBy = cause;
      const todo = 'start the store, or correct its address; see docs/storage.md';
      writeLog(logger, 'warn', { store, part, error: nameOfError(cause), todo }, 'store does not respond');
    },
    onClose: () => writeLog(logger, 'info', { store, part }, 'store responds again'),
  });
  return async (operation, work) => {
    const passage = circuit.enter();
    if (!passage) throw unavailable(new NotSentError(undefined, openedBy));
    try {
      const result = await within(clock, timeoutMs, work, storeIsLate);
      passage.responded();
      if (unwritten !== null) logAcceptance(operation);
      return result;
    } catch (error) {
      // While the circuit is open, its own line has said everything.
      if (error instanceof StoreTimeoutError && !circuit.isOpen())
        writeLog(
          logger,
          'warn',
          { store, part, operation, timeoutMs, option: 'storeTimeoutMs' },
          'store call timed out',
        );
      if (isOutage(error)) passage.failed(error);
      // `unavailable` may have other reasons and says nothing about the server.
      else if (!isGatewayError(error) || error.kind !== 'unavailable') passage.responded();
      if (!isGatewayError(error) && !isOutage(error)) logRefusal(operation, error);
      throw isGatewayError(error) ? error : unavailable(error);
    }
  };
}

/** Returns what an operator can do about a refusal; null: that depends. */
function todoFor(error: unknown): string | null {
  if (isFull(error)) return 'make room: the disk or the memory of the store is full';
  return isReadOnly(error) ? 'give the user of the store the right to write, or name the primary server' : null;
}

function unavailable(cause: unknown): GatewayError {
  const [message, errorType] = isFull(cause)
    ? ['The store of this gateway is full and takes no writes; try again later', 'store_full']
    : isReadOnly(cause)
      ? ['The store of this gateway is read-only now and takes no writes; try again later', 'store_read_only']
      : ['The store of this gateway does not respond; try again later', 'store_unavailable'];
  return new GatewayError('unavailable', message, { cause, errorType, retryAfterMs: 1000 });
}

const names = /^[A-Za-z0-9_.-]{1,100}$/;
const kinds = /^[a-z-]{1,30}$/;

/** Checks addresses: text from outside must never become part of a key unchecked. All must have the same partition. */
function check(at: readonly Address[]): void {
  if (at.every((one) => isAddress(one) && one.partition === at[0]?.partition)) return;
  throw new GatewayError('internal', 'A record was asked for that cannot exist', {
    cause: new Error('malformed address'),
  });
}

function isAddress({ partition, kind, id }: Address): boolean {
  return isName(names, partition) && isName(kinds, kind) && isName(names, id);
}

/** Checks the type first: a pattern would read `undefined` as the word "undefined". */
function isName(pattern: RegExp, name: unknown): boolean {
  return typeof name === 'string' && pattern.test(name);
}
