import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Gateway, GatewayOptions, Logger } from '../src/index.ts';
import { CliError, defaultOptions, type Env, loadConfig } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { type RunningServer, serve } from './node.ts';
import { openGateway } from './open-gateway.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** What the command line says about serving. */
export interface ServeFlags {
  port?: string;
  host?: string;
  config?: string;
  data?: string;
  cors?: string;
  'drain-ms'?: string;
}

/** Serves the gateway until somebody asks it to stop. @throws CliError for a mistake of the person at the terminal */
export async function serveUntilStopped(terminal: Terminal, flags: ServeFlags): Promise<void> {
  const { env } = terminal;
  const port = integerOption('port', flags.port ?? (env.PORT || '8787'), 65_535);
  const drainMs = integerOption('drain-ms', flags['drain-ms'] ?? '10000', 2 ** 31 - 1);
  const hostname = flags.host ?? '127.0.0.1';
  const given = flags.config === undefined ? defaultOptions(env) : await loadConfig(flags.config);
  const data = given.store ? null : openData(given, flags.data || env.MODEL_GATEWAY_DATA || '.model-gateway');
  for (const warning of data?.warnings ?? []) terminal.printError(`${warning}\n`);
  try {
    const { options, key } = withCallers(given, env);
    const gateway = openGateway({ logger: lineLogger(terminal), ...withCors(withData(options, data), flags.cors) });
    const server = await listen(gateway, { port, hostname, drainMs });
    terminal.print(banner(server, options, key, data));
    await stopAsked(terminal, server);
    await gateway.close();
  } finally {
    await data?.store?.disconnect();
  }
}

function openData({ secrets, sealer }: GatewayOptions, path: string): DataFolder {
  return openDataFolder(path, { needsSecret: secrets === undefined && sealer === undefined });
}

function withData(options: GatewayOptions, data: DataFolder | null): GatewayOptions {
  return {
    ...options,
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
    let askedAtMs: number | null = null;
    terminal.onStop(() => {
      if (askedAtMs === null) {
        askedAtMs = terminal.nowMs();
        terminal.printError('Stopping: open streams may finish. Ask again to cut them.\n');
        void server.close().then(stopped);
      } else if (terminal.nowMs() - askedAtMs >= sameSignalMs) void server.close(0);
    });
  });
}

function integerOption(name: string, text: string, max: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= max) return Number(text);
  throw new CliError(`Expected a whole number from 0 to ${max} for ${name}, not ${JSON.stringify(text)}`);
}

/** A key for callers, and the text to print about it. */
interface CallerKey {
  key: string;
  note: string;
}

/** Adds a key if the options have no way to authenticate callers. */
function withCallers(options: GatewayOptions, env: Env): { options: GatewayOptions; key: CallerKey | null } {
  if (options.apiKeys || options.authenticate || options.store) return { options, key: null };
  const key: CallerKey = env.GATEWAY_API_KEY
    ? { key: env.GATEWAY_API_KEY, note: 'from GATEWAY_API_KEY' }
    : {
        key: `sk-gw-${randomBytes(24).toString('hex')}`,
        note: 'made for this run; GATEWAY_API_KEY sets a lasting one',
      };
  return { options: { ...options, apiKeys: [{ key: key.key, permissions: ['inference', 'management'] }] }, key };
}

async function listen(
  gateway: Gateway,
  options: { port: number; hostname: string; drainMs: number },
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
  { url }: RunningServer,
  options: GatewayOptions,
  key: CallerKey | null,
  data: DataFolder | null,
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
    `  docs       ${fileURLToPath(new URL('../docs/', import.meta.url))}`,
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

/**
 * Prints warnings and errors, one per line. Successful requests print nothing; a config file may set another logger.
 */
function lineLogger({ printError }: Terminal): Logger {
  const line = (level: string) => (fields: object, message: string) =>
    printError(
      `${level} ${message} ${JSON.stringify(fields, (_key, value) => (value instanceof Error ? value.message : value))}\n`,
    );
  return { info: () => {}, warn: line('warn'), error: line('error') };
}
