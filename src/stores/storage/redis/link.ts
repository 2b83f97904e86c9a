import type { Clock } from '../../../base/clock.ts';
import { NotSentError } from '../circuit.ts';
import { type StoreLogger, writeLog } from '../logger.ts';
import type { RedisClient, RedisLink } from './client.ts';

/** One connection, as the client of the host app keeps it. */
export interface Link {
  /**
   * null: commands can be sent now.
   * @throws Error when the latest attempt to connect has failed
   */
  ready(): Promise<void> | null;
  /** Notes that a command is sent. */
  sent(): void;
  /** Notes that a command has ended. false: the server has not answered. */
  ended(isAnswered: boolean): void;
  /**
   * Closes the connection and makes a new one, at most once a second. Does nothing for a cluster or sentinels, whose
   * client itself finds the server to talk to. Commands in flight get their answers first.
   * @returns whether there is a new connection; resolves when it is ready, or the first attempt has failed
   */
  renew(): Promise<boolean>;
}

export interface LinkOptions {
  clock: Clock;
  /** The time without an answer after which a server counts as dead, while commands wait. */
  silentMs: number;
  logger?: StoreLogger | null | undefined;
  /** Opens a connection that is not open, or was given up; absent: its cluster opens it. */
  open?: (() => Promise<void>) | undefined;
}

/** The shortest time between two renewals of a connection: a server may stay read-only for long. */
const renewEveryMs = 1_000;
/** The longest wait for commands in flight before their connection is closed. */
const drainMs = 100;
/** The time to read what had arrived while this process was busy. */
const confirmMs = 20;
/** The time in which the client's attempt to connect notices that its socket is gone. */
const settleMs = 10;
/** The shortest time between two log lines about new connections. */
const logEveryMs = 60_000;

/**
 * Watches a connection. Calls wait as long as nothing has failed: during the first attempt to connect, and during the
 * first one after a loss. After a failure, calls fail at once until the connection is ready again.
 *
 * The client reconnects when a connection is lost. It keeps a connection whose server was demoted, or answers nothing
 * any more: this link closes such a connection.
 */
export function createLink(
  client: RedisLink & Partial<RedisClient>,
  { clock, silentMs, logger, open }: LinkOptions,
): Link {
  const isRenewable = isSingle(client);
  let failure: unknown = null;
  let isOpening = false;
  let isOpenedHere = false;
  let wasReady = isReady(client);
  /** true: the socket is open, and the server has not answered the greeting. */
  let isGreeting = false;
  let waiting: PromiseWithResolvers<void> | null = null;
  let inFlight = 0;
  let answers = 0;
  let quietSinceMs = 0;
  let isWatched = false;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let renewing: Promise<boolean> | null = null;
  let onDrained: (() => void) | null = null;

  function succeed() {
    if (!isReady(client)) return;
    wasReady = true;
    failure = null;
    waiting?.resolve();
    waiting = null;
  }
  function fail(cause?: unknown) {
    // The error does not concern the connection.
    if (isReady(client)) return;
    const isLost = wasReady && client.isOpen;
    wasReady = false;
    // After a loss, calls wait for one attempt.
    if (isLost) return;
    failure = cause ?? failure ?? new Error('The connection was closed');
    waiting?.reject(notConnected(failure));
    waiting = null;
  }
  /**
   * Handles a failed node. A cluster that is being opened waits for every node for ever, even for one that was replaced
   * meanwhile. So the opening begins again.
   */
  function failNode(cause?: unknown) {
    fail(cause);
    if (isOpening && client.isOpen) client.destroy?.();
  }

  client.on('ready', succeed);
  // A cluster has no event `ready`. It reports nodes that do not respond before it asks the next one.
  client.on('connect', succeed);
  if (client.slots) client.on('node-error', failNode);
  else client.on('error', fail);
  client.on('end', fail);
  if (isRenewable) {
    client.on('connect', () => {
      isGreeting = true;
      watch();
    });
    for (const event of ['ready', 'error', 'end', 'reconnecting']) {
      client.on(event, () => {
        isGreeting = false;
      });
    }
  }

  function begin(connect: () => Promise<unknown>): void {
    failure = null;
    isOpening = true;
    connect()
      .finally(() => {
        isOpening = false;
      })
      .then(succeed, fail);
  }

  /** Resolves when the connection is ready; rejects when an attempt to connect has failed. */
  function untilReady(): Promise<void> {
    waiting ??= Promise.withResolvers();
    return waiting.promise;
  }

  function renew(isSilent = false): Promise<boolean> {
    if (renewing) return renewing;
    const nowMs = clock.monotonic();
    if (!isRenewable || !client.isOpen || isRecent(renewedAtMs, nowMs, renewEveryMs)) return Promise.resolve(false);
    renewedAtMs = nowMs;
    if (!isRecent(loggedAtMs, nowMs, logEveryMs)) {
      loggedAtMs = nowMs;
      const why = isSilent ? 'does not answer' : 'says that it must not be used now';
      writeLog(logger, 'warn', { store: 'redis' }, `the server behind the connection ${why}; a new one is made`);
    }
    renewing = replace(isSilent)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        renewing = null;
      });
    return renewing;
  }

  async function replace(isSilent: boolean): Promise<void> {
    if (inFlight > 0 && !isSilent) {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(drainMs, resolve);
        onDrained = () => {
          cancel();
          resolve();
        };
      });
      onDrained = null;
    }
    const wasConnected = isReady(client);
    client.destroy?.();
    // Otherwise the client's attempt to connect would go on beside ours.
    if (!wasConnected) await new Promise<void>((resolve) => void clock.after(settleMs, resolve));
    // The host app may have opened it meanwhile.
    if (!client.isOpen) begin(open && isOpenedHere ? open : () => (client as RedisClient).connect());
    await (isReady(client) ? undefined : untilReady());
  }

  /**
   * Renews the connection when its server has not answered for too long. All commands share one timer, which runs only
   * while commands are in flight.
   */
  function watch(): void {
    if (isWatched || !isRenewable) return;
    isWatched = true;
    quietSinceMs = clock.monotonic();
    check(silentMs);
  }
  function check(inMs: number): void {
    const look = () => {
      const leftMs = silentMs - (clock.monotonic() - quietSinceMs);
      const before = answers;
      if (inFlight === 0 && !isGreeting) isWatched = false;
      else if (leftMs > 0) check(leftMs);
      else clock.after(confirmMs, () => confirm(before), { isIdle: true });
    };
    clock.after(inMs, look, { isIdle: true });
  }
  function confirm(before: number): void {
    isWatched = false;
    if (inFlight === 0 && !isGreeting) return;
    if (answers === before) void renew(true);
    watch();
  }

  function ready(): Promise<void> | null {
    if (renewing) return renewing.then(() => ready() ?? undefined);
    // A connection that is neither ready nor open is left to its cluster.
    if (isReady(client) || (!open && !client.isOpen)) return null;
    if (open && !client.isOpen && !isOpening) {
      isOpenedHere = true;
      begin(open);
    }
    if (failure) return Promise.reject(notConnected(failure));
    return untilReady();
  }

  return {
    ready,
    sent() {
      if (inFlight++ === 0) {
        quietSinceMs = clock.monotonic();
        watch();
      }
    },
    ended(isAnswered) {
      inFlight--;
      if (isAnswered) {
        answers++;
        quietSinceMs = clock.monotonic();
      }
      if (inFlight === 0) onDrained?.();
    },
    renew: () => renew(),
  };
}

/** Tells whether less than `forMs` have passed. */
function isRecent(sinceMs: number, nowMs: number, forMs: number): boolean {
  return nowMs - sinceMs < forMs;
}

/** Tells whether the client is for one address: clusters and sentinels find out themselves where to connect. */
function isSingle(client: RedisLink & Partial<RedisClient>): boolean {
  return !client.slots && !('getSentinelNode' in client) && 'connect' in client && 'destroy' in client;
}

export function isReady(client: RedisLink): boolean {
  return client.isReady ?? client.isOpen;
}

export function notConnected(cause: unknown): Error {
  return new NotSentError('Redis is not connected', cause);
}
