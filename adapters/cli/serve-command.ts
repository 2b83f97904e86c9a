import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Gateway, GatewayOptions, Logger } from '../../src/index.ts';
import { consoleHandler } from '../console/console.ts';
import { type RunningServer, type ServeOptions, serve } from '../hosts/node.ts';
import { CliError, defaultOptions, type Env, loadConfig, UsageError } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { openGateway } from './open-gateway.ts';
import { Supervisor } from './supervisor.ts';
import type { Terminal } from './terminal.ts';
import { packageFolder, version } from './version.ts';
import type { Supervised } from './worker-process.ts';

/** The flags for serving. */
export interface ServeFlags {
  port?: string;
  host?: string;
  config?: string;
  data?: string;
  cors?: string;
  'drain-ms'?: string;
  'grace-ms'?: string;
  workers?: string;
  reference?: boolean;
  'no-console'?: boolean;
}

/** Serves the gateway until a signal stops it. @throws CliError for a mistake of the user */
export async function serveUntilStopped(terminal: Terminal, flags: ServeFlags): Promise<void> {
  const { env } = terminal;
  const drainMs = integerOption('drain-ms', flags['drain-ms'] ?? '10000', longestMs);
  const graceMs = integerOption('grace-ms', flags['grace-ms'] ?? '0', longestMs);
  const port = integerOption('port', flags.port ?? (env.PORT || '8787'), 65_535);
  const hostname = flags.host ?? '127.0.0.1';
  const workers = terminal.supervised === null ? workerCount(flags.workers, terminal) : null;
  const given = flags.config === undefined ? defaultOptions(env) : await loadConfig(flags.config);
  const data = given.store ? null : openData(given, flags.data || env.MODEL_GATEWAY_DATA || '.model-gateway');
  if (terminal.supervised === null) for (const warning of data?.warnings ?? []) terminal.printError(`${warning}\n`);
  try {
    const { options, key } = withCallers(given, env);
    if (workers !== null) {
      if (data !== null && data.store === null)
        throw new CliError(
          'Workers share what is stored: give a store in the config file, or use Node 22.19 or newer.',
        );
      await supervise(terminal, { count: workers, drainMs, graceMs, key: key?.key }, (url) =>
        banner(url, options, key, data, flags),
      );
      return;
    }
    const opened = withCors(withData(options, data), flags.cors);
    const gateway = openGateway({
      logger: lineLogger(terminal),
      ...(terminal.supervised === null ? opened : sharedByWorkers(opened)),
    });
    const { reference } = flags;
    const hasConsole = flags['no-console'] !== true;
    const secret = env[consoleSecret] || data?.secret || undefined;
    const console = hasConsole ? consoleHandler(gateway, { secret }) : undefined;
    // Loads at the start what would else be loaded while a request waits. Never rejects.
    void gateway.ready();
    const server = await listen(gateway, { port, hostname, drainMs, graceMs, reference, console });
    if (terminal.supervised === null) terminal.print(banner(server.url, options, key, data, flags));
    else terminal.supervised.ready(server.url);
    await (terminal.supervised === null
      ? stopAsked(terminal, server)
      : stopTold(terminal, terminal.supervised, server));
    await gateway.close();
  } finally {
    await data?.store?.disconnect();
  }
}

/** The variable with the secret of the console's sessions. Without it, the secret of the data folder seals them. */
const consoleSecret = 'MODEL_GATEWAY_CONSOLE_SECRET';

/** The longest time of a timer. */
const longestMs = 2 ** 31 - 1;
const mostWorkers = 256;

/** null: one process serves, without workers. */
function workerCount(text: string | undefined, { cores }: Terminal): number | null {
  if (text === undefined) return null;
  if (text === 'auto') return cores;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= mostWorkers) return Number(text);
  throw new UsageError(
    `Expected a whole number from 1 to ${mostWorkers}, or auto, for workers, not ${JSON.stringify(text)}`,
  );
}

/** Requires a shared store: a budget that holds in one process only would be spent once by each worker. */
function sharedByWorkers(options: GatewayOptions): GatewayOptions {
  return { ...options, budgets: { ...options.budgets, onUnsharedStore: 'refuse' } };
}

/** Runs workers until somebody asks to stop. @throws CliError where a worker does not come to serve */
async function supervise(
  terminal: Terminal,
  { count, drainMs, graceMs, key }: { count: number; drainMs: number; graceMs: number; key: string | undefined },
  bannerFor: (url: string) => string,
): Promise<void> {
  const secret = terminal.env[consoleSecret] || randomBytes(32).toString('base64url');
  const supervisor = new Supervisor({
    count,
    drainMs,
    // All workers take the key that was made for this run, and open the same sessions.
    fork: () =>
      terminal.fork({ ...(key === undefined ? {} : { GATEWAY_API_KEY: key }), [consoleSecret]: secret }, graceMs),
    nowMs: terminal.nowMs,
    after: terminal.after,
    report: (line) => terminal.printError(`${line}\n`),
  });
  onStopAsked(terminal, (cutAfterMs) => supervisor.stop(cutAfterMs ?? drainMs));
  terminal.onReload(() => void supervisor.restart());
  let url: string;
  try {
    url = await supervisor.start();
  } catch (error) {
    throw new CliError(`${error instanceof Error ? error.message : error}; what it said is above.`);
  }
  terminal.print(
    `${bannerFor(url)}${count} workers; SIGHUP replaces them one after another, with the config file as it is then.\n`,
  );
  await supervisor.ended;
}

function openData({ secrets, sealer }: GatewayOptions, path: string): DataFolder {
  return openDataFolder(path, { needsSecret: secrets === undefined && sealer === undefined });
}

function withData(options: GatewayOptions, data: DataFolder | null): GatewayOptions {
  return {
    ...options,
    // Whoever runs a gateway asks later what it has cost. Records are bounded.
    records: { enabled: true, ...options.records },
    ...(data?.store ? { store: data.store } : {}),
    ...(data?.secret ? { secrets: { current: data.secret } } : {}),
  };
}

function withCors(options: GatewayOptions, origins: string | undefined): GatewayOptions {
  if (origins === undefined) return options;
  const list = origins.split(',').map((origin) => origin.trim());
  return { ...options, cors: { ...options.cors, origins: origins === '*' ? '*' : list } };
}

/** Below npm, Ctrl-C arrives twice, from the terminal and from npm. Two signals within this time count as one. */
const sameSignalMs = 500;

/** The first signal lets open streams finish, the next one cuts them. */
function stopAsked(terminal: Terminal, server: RunningServer): Promise<void> {
  return new Promise((stopped) => {
    onStopAsked(terminal, (cutAfterMs) => void server.close(cutAfterMs).then(stopped));
  });
}

/** @param stop  is called with 0 where open streams are to be cut */
function onStopAsked(terminal: Terminal, stop: (cutAfterMs: 0 | undefined) => void): void {
  let askedAtMs: number | null = null;
  terminal.onStop(() => {
    if (askedAtMs === null) {
      askedAtMs = terminal.nowMs();
      terminal.printError('Stopping: open streams may finish. Ask again to cut them.\n');
      stop(undefined);
    } else if (terminal.nowMs() - askedAtMs >= sameSignalMs) stop(0);
  });
}

/**
 * Stops a worker when its supervisor says so. At Ctrl-C, a worker gets the signal as well, and so does the whole group
 * when a terminal is closed: only the supervisor counts signals.
 */
function stopTold(terminal: Terminal, supervised: Supervised, server: RunningServer): Promise<void> {
  terminal.onReload(() => {});
  return new Promise((stopped) => {
    terminal.onStop(() => void server.close().then(stopped));
    supervised.onStop((drainMs) => void server.close(drainMs ?? longestMs).then(stopped));
  });
}

function integerOption(name: string, text: string, max: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`Expected a whole number from 0 to ${max} for ${name}, not ${JSON.stringify(text)}`);
}

/** A key for callers, and the text to print about it. */
interface CallerKey {
  key: string;
  note: string;
}

/** Adds a key if the options have no way to authenticate callers. */
function withCallers(options: GatewayOptions, env: Env): { options: GatewayOptions; key: CallerKey | null } {
  if (options.apiKeys || options.authenticate || options.store) return { options, key: null };
  const own = env.GATEWAY_API_KEY?.trim();
  const key: CallerKey = own
    ? { key: own, note: 'from GATEWAY_API_KEY' }
    : {
        key: `sk-gw-${randomBytes(24).toString('hex')}`,
        note: 'made for this run; GATEWAY_API_KEY sets a lasting one',
      };
  return { options: { ...options, apiKeys: [{ key: key.key, permissions: ['inference', 'management'] }] }, key };
}

async function listen(
  gateway: Gateway,
  options: ServeOptions & { port: number; hostname: string },
): Promise<RunningServer> {
  const { port, hostname } = options;
  try {
    return await serve(gateway, options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CliError(`Port ${port} on ${hostname} is taken. Choose another with --port, or 0 for any free one.`);
    }
    throw new CliError(`Cannot listen on port ${port} of ${hostname}: ${message}`);
  }
}

function banner(
  url: string,
  options: GatewayOptions,
  key: CallerKey | null,
  data: DataFolder | null,
  flags: ServeFlags,
): string {
  const slugs = Object.keys(options.providers ?? {});
  const model = slugs.includes('sandbox')
    ? 'sandbox/lorem'
    : (options.models?.[0]?.slug ?? `${slugs[0] ?? 'provider'}/MODEL`);
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = [`Authorization: Bearer ${key?.key ?? 'YOUR_KEY'}`, 'Content-Type: application/json'];
  const lines = [
    `model-gateway ${version()} serves ${url}`,
    `  key        ${key ? `${key.key}  (${key.note})` : 'as configured'}`,
    `  providers  ${slugs.join(', ')}`,
    `  data       ${placeOf(data)}`,
    `  docs       ${fileURLToPath(new URL('docs/', packageFolder))}`,
    ...(flags['no-console']
      ? []
      : [`  console    ${new URL('/console/', url)}${key ? '  (sign in with the key above)' : ''}`]),
    ...(flags.reference ? [`  reference  ${new URL('/reference', url)}`] : []),
    'Try it:',
    ['curl -N', `${url}/chat/completions`, ...headers.map((header) => `-H ${quote(header)}`), `-d ${quote(body)}`].join(
      ' ',
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function placeOf(data: DataFolder | null): string {
  if (data === null) return 'as configured';
  return data.store
    ? data.path
    : 'in memory, lost at the end: this runtime has no node:sqlite; Node 22.19 or newer has it';
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Messages about single requests, of which a busy gateway would print thousands. */
const ofRequests: ReadonlySet<string> = new Set(['request', 'operation', 'refusal']);

/**
 * Prints what happens, one line each, with the time. Requests that succeed or that the caller had wrong print nothing; a
 * config file may set another logger.
 */
function lineLogger({ printError, now }: Terminal): Logger {
  const line = (level: string) => (fields: object, message: string) =>
    printError(
      `${new Date(now()).toISOString()} ${level} ${message} ${JSON.stringify(fields, (_key, value) => (value instanceof Error ? value.message : value))}\n`,
    );
  const info = line('info');
  return {
    info: (fields, message) => (ofRequests.has(message) ? undefined : info(fields, message)),
    warn: line('warn'),
    error: line('error'),
  };
}
