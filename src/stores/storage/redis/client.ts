/**
 * The part of `@keyv/redis` that we use, by shape: the host app installs the package. Its `client` may be for a single
 * server, a cluster or sentinels, and the adapter may replace it.
 */
export interface RedisAdapter {
  readonly client: RedisClient;
  readonly namespace?: string | undefined;
  createKeyPrefix(key: string, namespace?: string): string;
}

/** A connection that reconnects by itself once it was opened. */
export interface RedisLink {
  /** true: the connection was opened and not given up; it may still be connecting. */
  readonly isOpen: boolean;
  /** true: commands reach the server now. */
  readonly isReady?: boolean;
  on(event: string, listener: (cause?: unknown) => void): unknown;
}

export interface RedisClient extends RedisLink {
  connect(): Promise<unknown>;
  /** Waits for the commands in flight. */
  close(): Promise<unknown>;
  destroy(): unknown;
  evalSha(sha1: string, call: RedisCall): Promise<unknown>;
  eval(script: string, call: RedisCall): Promise<unknown>;
  /** The same connection, with other limits for the commands of the returned client. */
  withCommandOptions(options: RedisCommandOptions): Pick<RedisClient, 'eval' | 'evalSha'>;
  /** In a cluster, the servers by slot. undefined: when the client last asked, no server had the slot. */
  readonly slots?: readonly ({ master: { client?: RedisLink | undefined } } | undefined)[];
  /** Asks a cluster again which server has which slot. No documented method does that. */
  readonly _slots?: { rediscover?(): Promise<void> };
}

/** Limits how long a command may wait to be sent: a time-out in ms, and a signal. */
export interface RedisCommandOptions {
  timeout: number | undefined;
  abortSignal: AbortSignal;
}

export interface RedisCall {
  keys: string[];
  arguments: string[];
}

/** The slot of a key, one of 16,384 in a cluster. The text between the first `{` and the next `}` decides. */
export function slotOf(key: string): number {
  const from = key.indexOf('{');
  const to = from < 0 ? -1 : key.indexOf('}', from);
  return crc16(new TextEncoder().encode(to > from + 1 ? key.slice(from + 1, to) : key)) % 16_384;
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
