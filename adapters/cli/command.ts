import { parseArgs } from 'node:util';
import { type ChatFlags, chat } from './chat-command.ts';
import { CliError, defaultOptions, loadConfig } from './config.ts';
import { type DoctorFlags, doctor } from './doctor-command.ts';
import { importConfig } from './import-command.ts';
import { init } from './init-command.ts';
import { openGateway } from './open-gateway.ts';
import { type ServeFlags, serveUntilStopped } from './serve-command.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

const help = `Usage: model-gateway serve [options]      serves the gateway over HTTP
       model-gateway chat [options] TEXT   asks a model, and prints the response as it arrives
       model-gateway init                  asks two questions, and writes gateway.config.mjs and .env
       model-gateway import FILE           writes them for a config file of LiteLLM, and lists what they cannot express
                                           (exit code 0: nothing; 1: something, or nothing was written)
       model-gateway doctor [options]      checks the config, its store, providers and prices, and says what to do
                                           (exit code 0: no problem; 1: a problem)

serve
  --port N         port to listen on, 0 for any free one (default: PORT, or 8787)
  --host H         address to listen on (default: 127.0.0.1, which only this machine can reach)
  --config FILE    .js, .mjs or .ts whose default export is the options of createGateway
  --data DIR       folder of the database and of the secret that seals provider keys
                   (default: MODEL_GATEWAY_DATA, or .model-gateway; not used with a config file that gives a store)
  --cors ORIGINS   web sites whose pages may use it, separated by commas, or * for all (default: none)
  --drain-ms N     how long a stop waits for open streams (default: 10000)
  --grace-ms N     how long a stop first goes on taking requests, while /readyz says so (default: 0)
  --workers N      so many processes serve the same port, or auto: one for each core (default: this process alone).
                   SIGHUP replaces them one after another, and no open stream is cut
  --reference      also serves a page about the interface, at /reference

chat
  --model M        slug of a model (default: defaultModel or the first model of the config file, or sandbox/lorem)
  --config FILE    as above; --data is not used: nothing is stored
  --url U          address of a running gateway, such as http://127.0.0.1:8787/v1, asked with the key in GATEWAY_API_KEY

doctor
  --config FILE    as above, and --data
  --live           asks each provider with a key for a few tokens
  --json           prints the findings as JSON

--help, --version

Without a config file: the sandbox, every provider whose usual environment variable is set (OPENAI_API_KEY, …), and
the OpenAI-compatible server at LOCAL_BASE_URL (with LOCAL_API_KEY, if it asks for one) as "local/<model>".
A file .env in the current folder sets variables that are not set otherwise. Callers use the key in GATEWAY_API_KEY, or
one that is made at the start and printed; it may also manage workspaces, budgets, provider keys and further keys.
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
      'Expected one of the commands serve, chat, init, import, doctor: model-gateway serve [options]; more with --help',
    );
  const command = name as keyof typeof flagsOf;
  const foreign = Object.keys(flags).find((flag) => !flagsOf[command].includes(flag));
  if (foreign !== undefined) throw new CliError(`The command ${command} has no option --${foreign}. More with --help.`);
  const argument = { chat: 'one message in quotes', import: 'one file' }[command as string];
  if (rest.length > (argument === undefined ? 0 : 1))
    throw new CliError(`Expected ${argument ?? `nothing after ${command}`}. More with --help.`);
  if (command === 'serve') await serveUntilStopped(terminal, flags);
  else if (command === 'init') await init(terminal);
  else if (command === 'doctor') await doctor(terminal, flags);
  else if (command === 'import') await importConfig(terminal, rest[0]);
  else await chatOnce(terminal, rest[0], flags);
}

const flagsOf = {
  serve: ['port', 'host', 'config', 'data', 'cors', 'drain-ms', 'grace-ms', 'workers', 'reference'],
  chat: ['config', 'model', 'url'],
  init: [] as string[],
  import: [] as string[],
  doctor: ['config', 'data', 'live', 'json'],
};

async function chatOnce(terminal: Terminal, message: string | undefined, flags: Flags): Promise<void> {
  const given = flags.config === undefined ? defaultOptions(terminal.env) : await loadConfig(flags.config);
  // Nobody else asks, and nothing is kept.
  const { apiKeys: _, store: _store, ...options } = given;
  const gateway = openGateway({ ...options, authenticate: 'host' });
  try {
    await chat(terminal, message, flags, given, gateway.as({ permissions: ['inference'] }).fetch);
  } finally {
    await gateway.close();
  }
}

interface Flags extends ChatFlags, ServeFlags, DoctorFlags {}

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
    'grace-ms': text,
    workers: text,
    model: text,
    url: text,
    live: flag,
    reference: flag,
    json: flag,
    help: flag,
    version: flag,
  };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new CliError(`${error instanceof Error ? error.message : error}. More with --help.`);
  }
}
