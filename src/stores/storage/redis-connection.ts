import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type RedisAdapter, type RedisClient, type RedisLink, slotOf } from './redis-client.ts';

export interface RedisScript {
  text: string;
  /** By which the server knows it. */
  sha1: string;
}

/**
 * The connection of a Keyv adapter, for scripts alone: a script is one step, and is never sent to a replica, which could
 * answer that a record is not there when it has only not arrived yet.
 */
export interface RedisConnection {
  /** The name of a key in the adapter's namespace. Keys of one partition lie in one slot of a cluster. */
  key(partition: string, rest: string): string;
  /**
   * Sends in the order of calls.
   * @param keys  all that the script touches, at least one, in one slot
   * @throws Error when the server cannot be reached, at once rather than when it is back
   */
  run(script: RedisScript, keys: string[], args: string[]): Promise<unknown>;
  /** Closes what was opened here; what the host app had opened stays open. */
  close(): Promise<void>;
}

export function createScript(text: string): RedisScript {
  return { text, sha1: bytesToHex(sha1(utf8ToBytes(text))) };
}

export function connectRedis(adapter: RedisAdapter): RedisConnection {
  // Taken once: another Keyv on the same adapter would change it, and budgets would begin anew.
  const { namespace } = adapter;
  const links = new WeakMap<RedisLink, Link>();
  const opened = new Set<RedisClient>();
  const inTime = limitQueueing();
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
      if (isClosed) throw new Error('The store is closed');
      // No turn is waited where it is ready: the order of calls is the order of commands.
      const { client } = adapter;
      if (!isReady(client)) await linkOf(client, () => createLink(client, () => open(client))).ready();
      const node = client.slots?.[slotOf(keys[0] as string)]?.master.client;
      // A node that is not known yet is connected to by the cluster; for one that was lost, it would queue.
      if (node?.isOpen && !isReady(node)) await linkOf(node, () => createLink(node)).ready();
      const call = { keys, arguments: args };
      try {
        return await inTime(client).evalSha(script.sha1, call);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return inTime(client).eval(script.text, call);
      }
    },
    async close() {
      isClosed = true;
      // A server that is away would have to come back first to be taken leave of.
      for (const client of opened) {
        if (isReady(client)) await client.close();
        else if (client.isOpen) client.destroy();
      }
      opened.clear();
    },
  };
}

/** How long a command may wait to be sent: what could not be sent is not sent minutes later. The client's own default. */
const queuedMs = 5_000;
/** The commands of so long have a signal together. */
const sharedMs = 1_000;

type Scripting = Pick<RedisClient, 'eval' | 'evalSha'>;

/**
 * Limits how long commands wait to be sent. By itself the client makes a signal with a timer for each of them, which
 * takes as long as all the rest of a command (14 µs with it, 7 without): here one serves for all of a second.
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

interface Link {
  /** @throws Error when the last attempt to connect has failed */
  ready(): Promise<void>;
}

/**
 * Watches a connection that is not ready. While nothing has failed (the first attempt to connect, and the first after a
 * connection was lost) it is waited for; after that calls fail at once, until it is ready again.
 * @param open  how to open it where it is not, or was given up; absent: not our task
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
    // An error that is none of the connection.
    if (isReady(client)) return;
    const isLost = wasReady && client.isOpen;
    wasReady = false;
    // After a loss one attempt is waited for.
    if (isLost) return;
    failure = cause ?? failure ?? new Error('The connection was closed');
    waiting?.reject(notConnected(failure));
    waiting = null;
  }
  /** A cluster that is opened waits for every node, for ever, even for one that was replaced meanwhile: begin again. */
  function failNode(cause?: unknown) {
    fail(cause);
    if (isOpening && client.isOpen) client.destroy?.();
  }

  client.on('ready', succeed);
  // A cluster has no `ready`; and it reports the nodes that do not answer, before it asks the next.
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
  return new Error('Redis is not connected', { cause });
}
