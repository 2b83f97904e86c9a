import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGateway, type Gateway, type GatewayOptions, type Logger, OptionsError } from '../src/index.ts';
import { chat } from './chat-command.ts';
import { CliError, defaultOptions, type Env, loadConfig } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { init } from './init-command.ts';
import { type RunningServer, serve } from './node.ts';
import type { Terminal } from './terminal.ts';

const help = `Usage: model-gateway serve [options]      serves the gateway over HTTP
       model-gateway chat [options] TEXT   asks a model, and prints the response as it arrives
       model-gateway init                  asks two questions, and writes gateway.config.mjs and .env

serve
  --port N         port to listen on, 0 for any free one (default: PORT, or 8787)
  --host H         address to listen on (default: 127.0.0.1, which only this machine can reach)
  --config FILE    .js, .mjs or .ts whose default export is the options of createGateway
  --data DIR       folder of the database and of the secret that seals provider keys
                   (default: MODEL_GATEWAY_DATA, or .model-gateway; not used with a config file that gives a store)
  --cors ORIGINS   web sites whose pages may use it, separated by commas, or * for all (default: none)
  --drain-ms N     how long a stop waits for open streams (default: 10000)

chat
  --model M        slug of a model (default: defaultModel or the first model of the config file, or sandbox/lorem)
  --config FILE    as above; --data is not used: nothing is stored
  --url U          address of a running gateway, such as http://127.0.0.1:8787/v1, asked with the key in GATEWAY_API_KEY

--help, --version

Without a config file: the sandbox, every provider whose usual environment variable is set (OPENAI_API_KEY, …), and
the OpenAI-compatible server at LOCAL_BASE_URL (with LOCAL_API_KEY, if it asks for one) as "local/<model>".
A file .env in the current folder sets variables that are not set otherwise. Callers use the key in GATEWAY_API_KEY, or one that is made at the start and printed; it may also manage workspaces,
budgets, provider keys and further keys.
`;

/**
 * Runs the command line until the server has stopped. A mistake is reported as one line on the error output.
 * @returns the exit code
 */
export async function runCommand(terminal: Terminal): Promise<number> {
  try {
    const { values, positionals } = readArgs(terminal.args);
    if (values.version) terminal.print(`${version()}\n`);
    else if (values.help) terminal.print(help);
    else await runNamed(terminal, positionals, values);
    return 0;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    terminal.printError(`${error.message}\n`);
    return 1;
  }
}

/** @throws CliError also for a flag that the command does not have: it would have no effect */
async function runNamed(terminal: Terminal, [name, ...rest]: readonly string[], flags: Flags): Promise<void> {
  if (name === undefined || !Object.hasOwn(flagsOf, name))
    throw new CliError(
      'Expected one of the commands serve, chat, init: model-gateway serve [options]; more with --help',
    );
  const command = name as keyof typeof flagsOf;
  const foreign = Object.keys(flags).find((flag) => !flagsOf[command].includes(flag));
  if (foreign !== undefined) throw new CliError(`The command ${command} has no option --${foreign}. More with --help.`);
  if (rest.length > (command === 'chat' ? 1 : 0))
    throw new CliError(
      `Expected ${command === 'chat' ? 'one message in quotes' : `nothing after ${command}`}. More with --help.`,
    );
  if (command === 'serve') await serveUntilStopped(terminal, flags);
  else if (command === 'init') await init(terminal);
  else await chatOnce(terminal, rest[0], flags);
}

const flagsOf = {
  serve: ['port', 'host', 'config', 'data', 'cors', 'drain-ms'],
  chat: ['config', 'model', 'url'],
  init: [] as string[],
};

async function chatOnce(terminal: Terminal, message: string | undefined, flags: Flags): Promise<void> {
  const given = flags.config === undefined ? defaultOptions(terminal.env) : await loadConfig(flags.config);
  // Nobody else asks, and nothing is kept.
  const { apiKeys: _, store: _store, ...options } = given;
  const gateway = open({ ...options, authenticate: 'host' });
  try {
    await chat(terminal, message, flags, given, gateway.as({ permissions: ['inference'] }).fetch);
  } finally {
    await gateway.close();
  }
}

interface Flags {
  model?: string;
  url?: string;
  port?: string;
  host?: string;
  config?: string;
  data?: string;
  cors?: string;
  'drain-ms'?: string;
}

function readArgs(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    port: text,
    host: text,
    config: text,
    data: text,
    cors: text,
    'drain-ms': text,
    model: text,
    url: text,
    help: flag,
    version: flag,
  };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new CliError(`${error instanceof Error ? error.message : error}. More with --help.`);
  }
}

async function serveUntilStopped(terminal: Terminal, flags: Flags): Promise<void> {
  const { env } = terminal;
  const port = integerOption('port', flags.port ?? (env.PORT || '8787'), 65_535);
  const drainMs = integerOption('drain-ms', flags['drain-ms'] ?? '10000', 2 ** 31 - 1);
  const hostname = flags.host ?? '127.0.0.1';
  const given = flags.config === undefined ? defaultOptions(env) : await loadConfig(flags.config);
  const data = given.store ? null : openData(given, flags.data || env.MODEL_GATEWAY_DATA || '.model-gateway');
  for (const warning of data?.warnings ?? []) terminal.printError(`${warning}\n`);
  try {
    const { options, key } = withCallers(given, env);
    const gateway = open({ logger: lineLogger(terminal), ...withCors(withData(options, data), flags.cors) });
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

function open(options: GatewayOptions): Gateway {
  try {
    return createGateway(options);
  } catch (error) {
    if (error instanceof OptionsError) throw new CliError(error.message);
    throw error;
  }
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

function version(): string {
  // The package.json is one folder up, for the sources and for the built files.
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return manifest.version;
}
