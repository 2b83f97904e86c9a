import { andThen } from '../../base/async/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { Ids } from '../../base/ids.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RateLimitState } from '../../schema/tenants/rate-limits.ts';
import { createHeartbeat } from '../spending/heartbeat.ts';
import { wasNotSent } from '../storage/circuit.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { nameOfError } from '../storage/outage.ts';
import { localRates } from './memory.ts';
import {
  type AdmitOutcome,
  type AdmitRequest,
  type CallEnding,
  countsCalls,
  type LimitedAccount,
  placeOf,
  type RateState,
  type Rates,
} from './rates.ts';
import { neverFits, rateLimited } from './refuse.ts';
import { rateLimitHeaders, showLimits } from './show.ts';

export interface RateLimiterDeps {
  /** Guarded: the limiter sets no time limit. */
  rates: Rates;
  clock: Clock;
  ids: Ids;
  logger: StoreLogger | null;
  /** The time after the last renewal for which a call counts as in flight. */
  leaseMs: number;
  onStoreFailure: 'refuse' | 'allow';
  /** true: the time comes from the store, if the store has a clock. */
  byClockOfStore: boolean;
}

export interface RateLimiter {
  /**
   * Takes a request, its place in flight and its tokens. Returns no promise where everything is counted in this
   * process.
   * @returns null: the store does not respond, and the call is served without being counted
   * @throws GatewayError rate_limited (429); payload_too_large (413): the call would never fit; unavailable (503)
   */
  admit(
    workspaceId: WorkspaceId,
    accounts: readonly LimitedAccount[],
    tokens: number,
  ): Admission | null | Promise<Admission | null>;
  /** @throws GatewayError unavailable (503) */
  read(workspaceId: WorkspaceId, accounts: readonly LimitedAccount[]): Promise<RateLimitState[]>;
  forget(workspaceId: WorkspaceId): Promise<void>;
  /** Waits until the ends of calls have reached the store. */
  close(): Promise<void>;
}

/** A call that was admitted. */
export interface Admission {
  /** The rest of the limits, as response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Takes the tokens of a further generation. @throws the errors of `RateLimiter.admit` */
  extend(tokens: number): Promise<void>;
  /** Gives the place in flight back, and corrects the tokens. Only the first call has an effect. Never throws. */
  end(usedTokens: number): void;
}

export function createRateLimiter(deps: RateLimiterDeps): RateLimiter {
  const { rates, clock, ids, logger, onStoreFailure } = deps;
  const local = localRates(rates);
  // Counts in this process end with the process: no lease has to expire.
  const leaseMs = local ? Number.POSITIVE_INFINITY : deps.leaseMs;
  // Counts in this process must not last longer when the time of day is set back. Processes share only the time of day.
  const time = () => (local ? clock.monotonic() : rates.hasClock && deps.byClockOfStore ? null : clock.now());
  const renew = (workspaceId: WorkspaceId, places: readonly string[]) =>
    rates.renew(workspaceId, places, time(), leaseMs);
  const heartbeat = createHeartbeat({ renew }, clock, deps.leaseMs, logger);
  /** By workspace: the ends of calls that have not reached the store. */
  const ending = new Map<WorkspaceId, Set<Promise<void>>>();

  function ask(request: AdmitRequest): AdmitOutcome | Promise<AdmitOutcome> {
    if (local) return local.admit(request);
    return rates.admit(request).then((outcome) => {
      const before = ending.get(request.workspaceId);
      if (outcome.isAdmitted || !before) return outcome;
      // The store may still count calls that have ended, because their ends are on the way to it.
      return Promise.all(before).then(() => rates.admit(request));
    });
  }

  /** @returns null: not counted */
  function take(request: Omit<AdmitRequest, 'nowMs' | 'leaseMs'>): RateState[] | null | Promise<RateState[] | null> {
    const { accounts, tokens, isFurther } = request;
    const error = neverFits(accounts, tokens);
    if (error) throw error;
    const asked = { ...request, nowMs: time(), leaseMs };
    const onOutcome = ({ isAdmitted, states }: AdmitOutcome) => {
      if (isAdmitted) return states;
      throw rateLimited(accounts, states, { tokens, isFurther }, clock.now());
    };
    const outcome = ask(asked);
    if (!(outcome instanceof Promise)) return onOutcome(outcome);
    return outcome.then(onOutcome, (failure: unknown) => {
      // The call may have been admitted nevertheless, or still will be. Then this gives its tokens back, and the end of
      // its lease gives back its place.
      if (!isFurther && !wasNotSent(failure)) send({ ...request, moreTokens: -tokens, nowMs: time() });
      if (onStoreFailure === 'allow' && isGatewayError(failure) && failure.kind === 'unavailable') return null;
      throw failure;
    });
  }

  /** Tries once: a place that the store does not learn of expires with its lease. */
  function send(call: CallEnding): void {
    if (local) {
      local.end(call);
      return;
    }
    const { workspaceId } = call;
    const sent = rates
      .end(call)
      .catch((error: unknown) => {
        writeLog(logger, 'warn', { workspaceId, error: nameOfError(error) }, 'the end of a call was not counted');
      })
      .then(() => {
        const others = ending.get(workspaceId);
        if (others?.delete(sent) && others.size === 0) ending.delete(workspaceId);
      });
    const others = ending.get(workspaceId);
    if (others) others.add(sent);
    else ending.set(workspaceId, new Set([sent]));
  }

  function admitted(call: Omit<AdmitRequest, 'nowMs' | 'leaseMs'>, first: RateState[]): Admission {
    const { id, workspaceId, accounts } = call;
    const places = accounts.filter(countsCalls).map((limited) => placeOf(limited, id));
    if (!local) for (const place of places) heartbeat.add(workspaceId, place);
    let states = first;
    let heldTokens = call.tokens;
    let isEnded = false;
    return {
      get headers() {
        return rateLimitHeaders(accounts, states);
      },
      async extend(tokens) {
        const taken = await take({ ...call, tokens, isFurther: true });
        if (taken === null) return;
        states = taken;
        heldTokens += tokens;
      },
      end(usedTokens) {
        if (isEnded) return;
        isEnded = true;
        if (places.length === 0) return;
        for (const place of places) heartbeat.remove(workspaceId, place);
        send({ id, workspaceId, accounts, moreTokens: usedTokens - heldTokens, nowMs: time() });
      },
    };
  }

  return {
    admit(workspaceId, accounts, tokens) {
      const call = { id: ids.uuid(), workspaceId, accounts, tokens, isFurther: false };
      return andThen(take(call), (states) => (states === null ? null : admitted(call, states)));
    },
    read: async (workspaceId, accounts) =>
      accounts.length === 0 ? [] : showLimits(accounts, await rates.read(workspaceId, accounts, time())),
    async forget(workspaceId) {
      heartbeat.forget(workspaceId);
      await rates.forget(workspaceId);
    },
    async close() {
      heartbeat.stop();
      await Promise.all([...ending.values()].flatMap((some) => [...some]));
    },
  };
}
