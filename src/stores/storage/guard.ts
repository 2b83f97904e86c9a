import type { Clock } from '../../base/clock.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Circuit, createCircuit, NotSentError } from './circuit.ts';
import { type StoreLogger, writeLog } from './logger.ts';
import { isOutage, nameOfError } from './outage.ts';
import type { Address, Storage } from './storage.ts';
import { within } from './within.ts';

export interface GuardOptions {
  clock: Clock;
  /** How long any call may take. */
  timeoutMs: number;
  logger?: StoreLogger | null;
  /** So many time-outs and lost connections in a row, and calls fail at once. Default 5. */
  circuitFailures?: number;
  /** How often one call is then let through, until one is answered. Default 100. */
  circuitProbeMs?: number;
}

/** Runs a call of the store within its limits. */
type Bound = <T>(work: () => T | Promise<T>) => Promise<T>;

/**
 * A storage and its ledger, of which every call ends within the time limit, with an answer or with GatewayError
 * unavailable (503), which holds nothing of the server's words but as its cause. A call that was given up may still take
 * effect. A GatewayError passes: what throws one has been answered.
 *
 * Records and ledger have a circuit each, for they may lie on different servers.
 */
export function guardStorage(storage: Storage, options: GuardOptions): Storage {
  const records = guard('records', storage.kind, options);
  const { kind, isShared } = storage;
  return {
    kind,
    isShared,
    ledger: guardLedger(storage.ledger, guard('ledger', storage.kind, options)),
    async get(at) {
      check([at]);
      return records(() => storage.get(at));
    },
    async getMany(at) {
      check(at);
      return records(() => storage.getMany(at));
    },
    async commit(changes) {
      check(changes.map(({ at }) => at));
      return records(() => storage.commit(changes));
    },
    async list(partition, ofKind, page) {
      check([{ partition, kind: ofKind, id: 'any' }]);
      return records(() => storage.list(partition, ofKind, page));
    },
    // Also where the circuit is open; and a server that is away is no reason to fail at the end.
    close: () =>
      within(options.clock, options.timeoutMs, () => storage.close()).catch((error: unknown) => {
        writeLog(options.logger, 'warn', { store: kind, error: nameOfError(error) }, 'store was not closed');
      }),
  };
}

function guardLedger(ledger: Ledger, bound: Bound): Ledger {
  return {
    hold: (request) => bound(() => ledger.hold(request)),
    settle: (workspaceId, id, actualNanoUsd, nowMs) =>
      bound(() => ledger.settle(workspaceId, id, actualNanoUsd, nowMs)),
    release: (...hold) => bound(() => ledger.release(...hold)),
    renew: (...holds) => bound(() => ledger.renew(...holds)),
    expire: (...at) => bound(() => ledger.expire(...at)),
    add: (...additions) => bound(() => ledger.add(...additions)),
    read: (...windows) => bound(() => ledger.read(...windows)),
    forget: (workspaceId) => bound(() => ledger.forget(workspaceId)),
  };
}

function guard(part: 'records' | 'ledger', store: Storage['kind'], options: GuardOptions): Bound {
  const { clock, timeoutMs, logger, circuitFailures = 5, circuitProbeMs = 100 } = options;
  const circuit: Circuit = createCircuit({
    clock,
    failures: circuitFailures,
    probeMs: circuitProbeMs,
    onOpen: (cause) => writeLog(logger, 'warn', { store, part, error: nameOfError(cause) }, 'store does not answer'),
    onClose: () => writeLog(logger, 'info', { store, part }, 'store answers again'),
  });
  return async (work) => {
    const passage = circuit.enter();
    if (!passage) throw unavailable(new NotSentError());
    try {
      const result = await within(clock, timeoutMs, work);
      passage.answered();
      return result;
    } catch (error) {
      if (isOutage(error)) passage.failed(error);
      // Unavailable for a reason of its own says nothing about the server.
      else if (!isGatewayError(error) || error.kind !== 'unavailable') passage.answered();
      throw isGatewayError(error) ? error : unavailable(error);
    }
  };
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The store of this gateway does not answer; try again later', {
    cause,
    retryAfterMs: 1000,
  });
}

const names = /^[A-Za-z0-9_.-]{1,100}$/;
const kinds = /^[a-z-]{1,30}$/;

/** What came in from outside must not reach the name of a key. Also: all of one partition. */
function check(at: readonly Address[]): void {
  if (at.every((one) => isAddress(one) && one.partition === at[0]?.partition)) return;
  throw new GatewayError('internal', 'A record was asked for that cannot exist', {
    cause: new Error('malformed address'),
  });
}

function isAddress({ partition, kind, id }: Address): boolean {
  return isName(names, partition) && isName(kinds, kind) && isName(names, id);
}

/** A pattern takes `undefined` for the word. */
function isName(pattern: RegExp, name: unknown): boolean {
  return typeof name === 'string' && pattern.test(name);
}
