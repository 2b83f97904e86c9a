import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { NotSentError } from '../circuit.ts';
import type { StoreLogger } from '../logger.ts';
import { isDemoted, isOutage } from '../outage.ts';
import { type RedisAdapter, type RedisCall, type RedisClient, type RedisLink, slotOf } from './client.ts';
import { createLink, isReady, type Link, notConnected } from './link.ts';

export interface RedisScript {
  text: string;
  /** The hash by which the server knows the script. */
  sha1: string;
}

/**
 * The connection of a Keyv adapter, for scripts only. A script is one atomic step and is never sent to a replica. A
 * replica could report that a record does not exist although the record has just not arrived there yet.
 */
export interface RedisConnection {
  /** The name of a key in the adapter's namespace. All keys of a partition are in one slot of a cluster. */
  key(partition: string, rest: string): string;
  /**
   * Sends the scripts in the order of the calls.
   * @param keys  all keys that the script uses, at least one, in one slot
   * @throws Error when the server cannot be reached, NotSentError if nothing was sent; does not wait for the server to
   *         come back
   */
  run(script: RedisScript, keys: string[], args: string[]): Promise<unknown>;
  /** A key of each server: in a cluster, of each master that the client knows by now. */
  keyOfEachServer(): [string, ...string[]];
  /** Closes the connections opened here. Those that the host app opened stay open. */
  close(): Promise<void>;
}

export function createScript(text: string): RedisScript {
  return { text, sha1: bytesToHex(sha1(utf8ToBytes(text))) };
}

export interface RedisConnectionOptions {
  /** Default: the system's. */
  clock?: Clock | undefined;
  /** The time limit of one call, in ms. A connection counts as dead only after twice this time. Default 250. */
  timeoutMs?: number | undefined;
  logger?: StoreLogger | null | undefined;
}

/**
 * Connects over the client of the adapter. A script that a server refuses because it takes no writes is run once more,
 * on a new connection: another server may be behind the same address by now. The refused script has changed nothing.
 */
export function connectRedis(
  adapter: RedisAdapter,
  { clock = systemClock, timeoutMs = 250, logger }: RedisConnectionOptions = {},
): RedisConnection {
  // Read once: another Keyv on the same adapter would change the namespace, and budgets would start again from zero.
  const { namespace } = adapter;
  const links = new WeakMap<RedisLink, Link>();
  const opened = new Set<RedisClient>();
  const inTime = limitQueueing();
  const findServers = limitDiscovery();
  let isClosed = false;

  function linkOf(client: RedisLink, open?: () => Promise<void>): Link {
    let link = links.get(client);
    if (link === undefined) {
      link = createLink(client, { clock, silentMs: Math.max(shortestSilenceMs, 2 * timeoutMs), logger, open });
      links.set(client, link);
    }
    return link;
  }

  async function open(client: RedisClient): Promise<void> {
    opened.add(client);
    try {
      await client.connect();
    } catch (error) {
      opened.delete(client);
      throw error;
    }
  }

  return {
    key: (partition, rest) => adapter.createKeyPrefix(`{${partition}}:${rest}`, namespace),
    async run(script, keys, args) {
      for (let isAgain = false; ; isAgain = true) {
        if (isClosed) throw new NotSentError('The store is closed');
        // Not awaited when the client is ready: so the order of calls is the order of commands.
        const { client } = adapter;
        let link = linkOf(client, () => open(client));
        const opening = link.ready();
        if (opening) await opening;
        const shard = client.slots?.[slotOf(keys[0] as string)];
        if (client.slots && !shard) {
          findServers(client);
          throw notConnected(new Error('No server of the cluster has the slot'));
        }
        const node = shard?.master.client;
        if (node) {
          link = linkOf(node);
          // The cluster connects to a node that it does not know yet. For a lost node, it would queue the command.
          const reconnecting = link.ready();
          if (reconnecting) await reconnecting;
        }
        try {
          return await watched(link, () => evaluate(inTime(client), script, { keys, arguments: args }));
        } catch (error) {
          if (!isDemoted(error)) throw error;
          // The servers of a cluster have an address each: the client has to learn who took over.
          if (client.slots) findServers(client);
          if (isAgain || client.slots || !(await link.renew())) throw error;
        }
      }
    },
    keyOfEachServer() {
      const { slots = [] } = adapter.client;
      const left = new Set(slots.flatMap((shard) => shard?.master ?? []));
      const keyAt = (n: number) => adapter.createKeyPrefix(`{server-${n}}`, namespace);
      const masterOf = (key: string) => slots[slotOf(key)]?.master;
      const keys: string[] = [];
      for (let n = 0; n < maxTried && left.size > 0; n++) {
        const key = keyAt(n);
        if (left.delete(masterOf(key) as never)) keys.push(key);
      }
      const [first = keyAt(0), ...others] = keys;
      return [first, ...others];
    },
    async close() {
      isClosed = true;
      // Not closed gracefully: a server that is away would first have to come back.
      for (const client of opened) {
        if (isReady(client)) await client.close();
        else if (client.isOpen) client.destroy();
      }
      opened.clear();
    },
  };
}

/** Sends a command over a link. The link learns from it whether the server still answers. */
async function watched<T>(link: Link, send: () => Promise<T>): Promise<T> {
  link.sent();
  try {
    const result = await send();
    link.ended(true);
    return result;
  } catch (error) {
    link.ended(!(error instanceof NotSentError || isOutage(error)));
    throw error;
  }
}

async function evaluate(scripting: Scripting, { sha1, text }: RedisScript, call: RedisCall): Promise<unknown> {
  try {
    return await scripting.evalSha(sha1, call);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw orNotSent(error);
    return scripting.eval(text, call);
  }
}

/** The shortest time without an answer after which a server counts as dead. */
const shortestSilenceMs = 2_000;
/** The most keys that are tried to find one for each master of a cluster. */
const maxTried = 1_000;
/** The longest time that a command may wait to be sent. Later it is not sent at all. The client's own default. */
const queuedMs = 5_000;
/** All commands of this period share a signal. */
const sharedMs = 1_000;

type Scripting = Pick<RedisClient, 'eval' | 'evalSha'>;

/**
 * Limits how long commands wait to be sent. The client itself would make a signal with a timer for each command, which
 * takes as long as the command itself (14 µs with it, 7 without). Here, one signal serves all commands of a second.
 */
function limitQueueing(): (client: RedisClient) => Scripting {
  let limited: { client: RedisClient; scripting: Scripting; isNew: AbortSignal } | null = null;
  return (client) => {
    if (limited?.client !== client || limited.isNew.aborted) {
      const scripting = client.withCommandOptions({
        timeout: undefined,
        abortSignal: AbortSignal.timeout(queuedMs),
      });
      limited = { client, scripting, isNew: AbortSignal.timeout(sharedMs) };
    }
    return limited.scripting;
  };
}

/** The shortest time between two discoveries of a cluster's servers. */
const discoveryMs = 500;

/**
 * Asks a cluster again which server has which slot. The client does so itself only when a server redirects it. While a
 * lost master is being replaced, no server has its slots: a client that asked then would never learn who took over.
 */
function limitDiscovery(): (client: RedisClient) => void {
  let isRecent: AbortSignal | null = null;
  return (client) => {
    if (isRecent && !isRecent.aborted) return;
    isRecent = AbortSignal.timeout(discoveryMs);
    // The client reports its failure as an event, too.
    client._slots?.rediscover?.().catch(() => {});
  };
}

/**
 * The messages with which the client refuses a command that it has not written to the server. In a bundle, the classes
 * of these errors may have other names.
 */
const notWritten = ['The client is closed', 'The client is offline', 'The command was aborted', 'The queue is full'];

function orNotSent(error: unknown): unknown {
  return error instanceof Error && notWritten.includes(error.message)
    ? new NotSentError('Redis is not connected', error)
    : error;
}
