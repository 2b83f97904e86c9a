import type { WorkspaceId } from '../../call/workspace.ts';
import { createScript, type RedisConnection } from '../storage/redis/connection.ts';
import { countsCalls, type LimitedAccount, type RateState, type Rates } from './rates.ts';
import { rateScripts } from './redis-scripts.ts';

/**
 * Rate limits in Redis. Every step is one script on the server that has all data of the workspace, by the clock of that
 * server. Nothing has to be removed: a count expires by itself as soon as it is zero.
 */
export function redisRates(redis: RedisConnection): Rates {
  const admit = createScript(rateScripts.admit);
  const end = createScript(rateScripts.end);
  const renew = createScript(rateScripts.renew);
  const read = createScript(rateScripts.read);
  const forget = createScript(rateScripts.forget);

  const bucketKey = (workspaceId: WorkspaceId, account: string) => redis.key(workspaceId, `rates:bucket:${account}`);
  const callsKey = (workspaceId: WorkspaceId, account: string) => redis.key(workspaceId, `rates:calls:${account}`);
  const keysOf = (workspaceId: WorkspaceId, accounts: readonly LimitedAccount[]) =>
    accounts.flatMap(({ account }) => [bucketKey(workspaceId, account), callsKey(workspaceId, account)]);

  return {
    hasClock: true,
    async admit({ id, workspaceId, accounts, tokens, isFurther, nowMs, leaseMs }) {
      const args = [time(nowMs), id, String(tokens), isFurther ? '1' : '0', String(leaseMs), ...accounts.map(limitsOf)];
      const [isAdmitted, ...states] = (await redis.run(admit, keysOf(workspaceId, accounts), args)) as unknown[];
      return { isAdmitted: Number(isAdmitted) === 1, states: states.map(stateOf) };
    },
    async end({ id, workspaceId, accounts, moreTokens, nowMs }) {
      const args = [time(nowMs), id, String(moreTokens), ...accounts.map(limitsOf)];
      await redis.run(end, keysOf(workspaceId, accounts), args);
    },
    async renew(workspaceId, places, nowMs, leaseMs) {
      const byAccount = Map.groupBy(places, (place) => place.slice(0, place.indexOf(' ')));
      for (const [account, some] of byAccount) {
        const ids = some.map((place) => place.slice(account.length + 1));
        await redis.run(renew, [callsKey(workspaceId, account)], [time(nowMs), String(leaseMs), ...ids]);
      }
    },
    async read(workspaceId, accounts, nowMs) {
      if (accounts.length === 0) return [];
      const args = [time(nowMs), ...accounts.map(limitsOf)];
      return ((await redis.run(read, keysOf(workspaceId, accounts), args)) as unknown[]).map(stateOf);
    },
    async forget(workspaceId) {
      await redis.run(forget, [bucketKey(workspaceId, 'workspace'), callsKey(workspaceId, 'workspace')], []);
    },
  };
}

/** Empty: the script uses the server's clock. */
function time(nowMs: number | null): string {
  return nowMs === null ? '' : String(Math.floor(nowMs));
}

/**
 * Requests, tokens and calls in flight, each empty where it is not limited; then whether calls are counted one by one.
 */
function limitsOf(limited: LimitedAccount): string {
  const { requestsPerMinute, tokensPerMinute, requestsInFlight } = limited;
  const isCounted = countsCalls(limited) ? 1 : 0;
  return `${requestsPerMinute ?? ''},${tokensPerMinute ?? ''},${requestsInFlight ?? ''},${isCounted}`;
}

/** Reads a state, the text `<requests> <tokens> <in flight>`: some clients would round the largest integers. */
function stateOf(text: unknown): RateState {
  const [requests, tokens, inFlight] = String(text).split(' ').map(Number);
  return { requests: requests as number, tokens: tokens as number, inFlight: inFlight as number };
}
