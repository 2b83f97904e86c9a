import { parseArgs } from 'node:util';
import { didYouMean, nearest } from '../../../src/base/text/nearest.ts';
import { UsageError } from '../config.ts';
import { type Command, type CommandName, commands } from './commands.ts';

/** The thing that a command line asks for. */
export type Asked =
  | { kind: 'version' }
  /** null: about all commands. */
  | { kind: 'help'; about: CommandName | null }
  | {
      kind: 'run';
      name: Exclude<CommandName, 'help'>;
      args: readonly string[];
      flags: Readonly<Record<string, string | boolean>>;
    };

const always = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Reads a command line. @throws UsageError that names what is wrong, and what may be meant */
export function readArgs(args: readonly string[]): Asked {
  const every = Object.assign({}, ...Object.values<Command>(commands).map(({ options }) => options));
  const known = Object.fromEntries(
    Object.entries<{ type: 'string' | 'boolean' }>(every).map(([name, { type }]) => [name, { type }]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...known, ...always },
    // What is wrong is named here, in the words of this command.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  const [name, ...rest] = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  if (given.some((token) => token.name === 'version')) return { kind: 'version' };
  if (given.some((token) => token.name === 'help'))
    return { kind: 'help', about: name === undefined ? null : commandOf(name === 'help' ? (rest[0] ?? 'help') : name) };
  const command = commandOf(name);
  const { options, most = 0, expected }: Command = commands[command];
  const flags: Record<string, string | boolean> = {};
  for (const token of given) {
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) {
      if (Object.hasOwn(every, token.name))
        throw wrong(`The command ${command} has no option --${token.name}`, command);
      const near = nearest(token.name, Object.keys(options), { max: 1 }).map((one) => `--${one}`);
      throw wrong(`Unknown option '${token.rawName}'${didYouMean(near)}`, command);
    }
    if (option.type === 'boolean' && token.value !== undefined)
      throw wrong(`The option --${token.name} takes no value`, command);
    const isOption = token.inlineValue === false && /^--?[a-z]/.test(token.value ?? '');
    if (option.type === 'string' && (token.value === undefined || token.value === '' || isOption))
      throw wrong(`The option --${token.name} needs a value: --${token.name} ${option.value ?? 'VALUE'}`, command);
    flags[token.name] = token.value ?? true;
  }
  if (rest.length > most) throw wrong(`Expected ${most === 0 ? `nothing after ${command}` : expected}`, command);
  if (command === 'help') return { kind: 'help', about: rest[0] === undefined ? null : commandOf(rest[0]) };
  return { kind: 'run', name: command, args: rest, flags };
}

function commandOf(name: string | undefined): CommandName {
  if (name !== undefined && Object.hasOwn(commands, name)) return name as CommandName;
  const names = Object.keys(commands);
  const near = name === undefined ? '' : didYouMean(nearest(name, names, { max: 1 }));
  const instead = name === undefined ? '' : `, not ${JSON.stringify(name)}`;
  throw new UsageError(
    `Expected one of the commands ${names.join(', ')}${instead}${near || '.'} More with model-gateway help.`,
  );
}

function wrong(message: string, command: CommandName): UsageError {
  return new UsageError(`${message}${/[?]$/.test(message) ? '' : '.'} More with model-gateway help ${command}.`);
}
