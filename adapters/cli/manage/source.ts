import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GatewayOptions } from '../../../src/index.ts';
import { CliError, defaultOptions, loadConfig } from '../config.ts';
import { openDataFolder } from '../data-folder.ts';
import { openGateway } from '../open-gateway.ts';
import { baseUrlOf, keyOf, runningUrl } from '../remote/address.ts';
import { errorOf, reasonOf } from '../remote/failure.ts';
import type { Terminal } from '../terminal.ts';
import { waitingFor } from '../waiting.ts';

/** The flags that say which gateway is asked. */
export interface SourceFlags {
  url?: string;
  key?: string;
  config?: string;
  data?: string;
  json?: boolean;
}

/** A gateway that a command asks: one that runs, or one that the command opens itself. */
export interface Source {
  /**
   * Calls an operation.
   * @returns the body of its response
   * @throws CliError for an error of the gateway
   */
  ask(method: string, path: string, body?: object): Promise<Body>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: what a gateway of another version says is not known
export type Body = any;

/** The longest time for an operation. */
const patienceMs = 60_000;

/**
 * Opens the gateway that the flags name.
 * @param needsStore  true: without a store, there is nothing to see
 */
export async function openSource(
  terminal: Terminal,
  flags: SourceFlags,
  { needsStore }: { needsStore: boolean },
): Promise<Source> {
  const url = runningUrl(terminal.env, flags);
  return url === undefined ? openLocal(terminal, flags, needsStore) : remote(terminal, url, flags.key);
}

function remote(terminal: Terminal, url: string, key: string | undefined): Source {
  const base = baseUrlOf(url);
  const authorization = `Bearer ${keyOf(terminal.env, key)}`;
  return sourceOf(terminal, base, `Waiting for ${base}`, async (request) => {
    request.headers.set('authorization', authorization);
    try {
      return await fetch(request);
    } catch (error) {
      throw new CliError(`No response from ${base}: ${reasonOf(error)}`);
    }
  });
}

async function openLocal(terminal: Terminal, flags: SourceFlags, needsStore: boolean): Promise<Source> {
  const { env } = terminal;
  const given = flags.config === undefined ? defaultOptions(env) : await loadConfig(flags.config);
  const folder = resolve(flags.data || env.MODEL_GATEWAY_DATA || '.model-gateway');
  const hasData = given.store === undefined && existsSync(join(folder, 'gateway.db'));
  if (needsStore && given.store === undefined && !hasData)
    throw new CliError(
      `There is no gateway to ask: ${folder} holds no data. Name one with --url, --config or --data, or start one with model-gateway serve.`,
    );
  const needsSecret = given.secrets === undefined && given.sealer === undefined;
  const data = hasData ? openDataFolder(folder, { needsSecret }) : null;
  // Whoever can read the config and the data may do everything anyway.
  const { apiKeys: _, ...options } = given;
  const gateway = openGateway({
    ...options,
    basePath: '/v1',
    authenticate: 'host',
    records: { enabled: true, ...(options as GatewayOptions).records },
    ...(data?.store ? { store: data.store } : {}),
    ...(data?.secret ? { secrets: { current: data.secret } } : {}),
  });
  const { fetch: ask } = gateway.as({ permissions: ['inference', 'management'] });
  const source = sourceOf(terminal, 'http://model-gateway/v1', 'Waiting for the store', ask);
  return {
    ask: source.ask,
    async close() {
      await gateway.close();
      await data?.store?.disconnect();
    },
  };
}

function sourceOf(
  terminal: Terminal,
  base: string,
  waitsFor: string,
  send: (request: Request) => Promise<Response>,
): Source {
  async function ask(method: string, path: string, body?: object): Promise<Body> {
    const client = new AbortController();
    terminal.onStop(() => client.abort());
    const cancel = terminal.after(patienceMs, () => client.abort());
    try {
      const response = await send(
        new Request(base + path, {
          method,
          headers: {
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: client.signal,
        }),
      );
      if (!response.ok) throw new CliError(await errorOf(response));
      return await response.json().catch(() => {
        throw new CliError(`${base} does not respond as a gateway does. The address usually ends in /v1.`);
      });
    } finally {
      cancel();
    }
  }
  return {
    ask: (method, path, body) => waitingFor(terminal, waitsFor, ask(method, path, body)),
    close: async () => {},
  };
}
