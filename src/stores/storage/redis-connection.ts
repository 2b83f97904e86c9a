import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { NotSentError } from './circuit.ts';
import { type RedisAdapter, type RedisClient, type RedisLink, slotOf } from './redis-client.ts';

export interface RedisScript {
  text: string;
  /** The server knows the script by this hash. */
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

export function connectRedis(adapter: RedisAdapter): RedisConnection {
  // Read once: another Keyv on the same adapter would change the namespace, and budgets would start again from zero.
  const { namespace } = adapter;
  const links = new WeakMap<RedisLink, Link>();
  const opened = new Set<RedisClient>();
  const inTime = limitQueueing();
  const findServers = limitDiscovery();
  let isClosed = false;

  function linkOf(client: RedisLink, create: () => Link): Link {
    const link = links.get(client) ?? create();
    links.set(client, link);
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
      if (isClosed) throw new NotSentError('The store is closed');
      // Not awaited when the client is ready: so the order of calls is the order of commands.
      const { client } = adapter;
      if (!isReady(client)) await linkOf(client, () => createLink(client, () => open(client))).ready();
      const shard = client.slots?.[slotOf(keys[0] as string)];
      if (client.slots && !shard) {
        findServers(client);
        throw notConnected(new Error('No server of the cluster has the slot'));
      }
      const node = shard?.master.client;
      // The cluster connects to a node that it does not know yet. For a lost node, it would queue the command.
      if (node?.isOpen && !isReady(node)) await linkOf(node, () => createLink(node)).ready();
      const call = { keys, arguments: args };
      try {
        return await inTime(client).evalSha(script.sha1, call);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw orNotSent(error);
        return inTime(client).eval(script.text, call);
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

/** The most keys that are tried to find one for each master of a cluster. */
const maxTried = 1_000;
/** How long a command may wait to be sent. Later it is not sent at all. The client's own default. */
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

/** How often a cluster is asked at most which server has a slot that none had. */
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

interface Link {
  /** @throws Error when the latest attempt to connect has failed */
  ready(): Promise<void>;
}

/**
 * Watches a connection that is not ready. Calls wait as long as nothing has failed: during the first attempt to
 * connect, and during the first one after a loss. After a failure, calls fail at once until the connection is ready
 * again.
 * @param open  opens a connection that is not open, or was given up; absent: the host app opens it
 */
function createLink(client: RedisLink & Partial<RedisClient>, open?: () => Promise<void>): Link {
  let failure: unknown = null;
  let isOpening = false;
  let wasReady = isReady(client);
  let waiting: PromiseWithResolvers<void> | null = null;

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
   * When a cluster is opened, it waits for every node for ever, even for one that was replaced meanwhile. So begin
   * again.
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

  return {
    ready() {
      if (open && !client.isOpen && !isOpening) {
        failure = null;
        isOpening = true;
        open()
          .finally(() => {
            isOpening = false;
          })
          .then(succeed, fail);
      }
      if (failure) return Promise.reject(notConnected(failure));
      waiting ??= Promise.withResolvers();
      return waiting.promise;
    },
  };
}

function isReady(client: RedisLink): boolean {
  return client.isReady ?? client.isOpen;
}

function notConnected(cause: unknown): Error {
  return new NotSentError('Redis is not connected', cause);
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
