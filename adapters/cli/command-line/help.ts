import { type Command, type CommandName, commands, type Option } from './commands.ts';

const common = `Options of every command: -h, --help; -v, --version.
Exit codes: 0 done, 1 failed, 2 the command line is wrong.

Without a config file: the sandbox, every provider whose usual environment variable is set (OPENAI_API_KEY, …), and
the OpenAI-compatible server at LOCAL_BASE_URL (with LOCAL_API_KEY, if it asks for one) as "local/<model>".
A file .env in the current folder sets variables that are not set otherwise. Callers use the key in GATEWAY_API_KEY, or
one that is made at the start and printed; it may also manage workspaces, budgets, provider keys and further keys.
`;

/** Returns the text about all commands. */
export function helpText(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries<Command>(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `Usage: model-gateway COMMAND [options]

${lines.join('\n')}

model-gateway help COMMAND says more about one.

${common}`;
}

/** Returns the text about one command. */
export function commandHelp(name: CommandName): string {
  const { summary, options, notes = [], ...rest }: Command = commands[name];
  const given = rest.arguments === undefined ? '' : ` ${rest.arguments}`;
  const lines = Object.entries(options).flatMap(([option, described]) => optionLines(option, described));
  return [
    `Usage: model-gateway ${name}${lines.length > 0 ? ' [options]' : ''}${given}`,
    `       ${summary}`,
    '',
    ...(lines.length > 0 ? [...lines, ''] : []),
    ...(notes.length > 0 ? [...notes, ''] : []),
    'Options of every command: -h, --help; -v, --version. Exit codes: 0 done, 1 failed, 2 the command line is wrong.',
    '',
  ].join('\n');
}

const column = 20;

function optionLines(name: string, { value, help }: Option): string[] {
  const head = `  --${name}${value === undefined ? '' : ` ${value}`}`;
  const [first = '', ...others] = help;
  return [`${head.padEnd(column - 1)} ${first}`, ...others.map((line) => ' '.repeat(column) + line)];
}
