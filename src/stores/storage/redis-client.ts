/**
 * What is used of `@keyv/redis`, by shape: the package is installed by whoever uses it. Its `client` may be of a single
 * server, of a cluster or of sentinels, and may be replaced.
 */
export interface RedisAdapter {
  readonly client: RedisClient;
  readonly namespace?: string | undefined;
  createKeyPrefix(key: string, namespace?: string): string;
}

/** A connection that keeps itself open once it was opened. */
export interface RedisLink {
  /** Was opened and has not been given up; it may be connecting. */
  readonly isOpen: boolean;
  /** Commands reach the server now. */
  readonly isReady?: boolean;
  on(event: string, listener: (cause?: unknown) => void): unknown;
}

export interface RedisClient extends RedisLink {
  connect(): Promise<unknown>;
  /** Waits for the answers that are in flight. */
  close(): Promise<unknown>;
  destroy(): unknown;
  evalSha(sha1: string, call: RedisCall): Promise<unknown>;
  eval(script: string, call: RedisCall): Promise<unknown>;
  /** The same connection, with other limits for the commands given to what it returns. */
  withCommandOptions(options: RedisCommandOptions): Pick<RedisClient, 'eval' | 'evalSha'>;
  /** Of a cluster, by slot: who serves it. */
  readonly slots?: readonly { master: { client?: RedisLink | undefined } }[];
}

/** How long a command may wait to be sent: for so many ms, and until the signal aborts. */
export interface RedisCommandOptions {
  timeout: number | undefined;
  abortSignal: AbortSignal;
}

export interface RedisCall {
  keys: string[];
  arguments: string[];
}

/** Which of the 16,384 slots of a cluster a key lies in: what stands between the first `{` and the next `}` decides. */
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
