import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { CliError, UsageError } from './config.ts';
import { envLine } from './config-source.ts';
import { type Format, formats, ofClients } from './import/formats.ts';
import { importClient } from './import/openrouter/client.ts';
import { isClientSource } from './import/openrouter/files.ts';
import { configText, type Imported } from './import/produced.ts';
import { parse, readMapping, readText } from './import/read-file.ts';
import { shownReport } from './import/report.ts';
import type { Terminal } from './terminal.ts';

const envFile = '.env';

/** The flags of an import. */
export interface ImportFlags {
  from?: string;
  out?: string;
  model?: string;
  'dry-run'?: boolean;
}

/**
 * Writes a config file for the config file of another gateway, and a file of environment variables for the secrets in
 * it. Nothing is overwritten, and no value of a secret is printed.
 * @throws CliError where nothing was written; and, after the files were written, where something needs work
 */
export async function importConfig(
  terminal: Terminal,
  path: string | undefined,
  flags: ImportFlags = {},
): Promise<void> {
  if (path === undefined) throw new UsageError('Expected a file: model-gateway import litellm.yaml');
  const { folder } = terminal;
  const asked = flags.from === undefined || flags.from === ofClients ? null : formatOf(flags.from);
  const out = resolve(folder, flags.out ?? 'gateway.config.mjs');
  if (!/\.m?[jt]s$/.test(out)) throw new UsageError('Expected --out FILE that ends in .mjs, .js or .ts');
  const isDry = flags['dry-run'] === true;
  if (!isDry && existsSync(out)) throw new CliError(`${out} exists already; nothing was written`);
  const env = join(folder, envFile);
  const taken = variablesIn(env);
  const source = resolve(folder, path);
  const models = (flags.model ?? '').split(',').flatMap((name) => name.trim() || []);
  const isClient = flags.from === ofClients || (asked === null && isClientSource(source));
  const imported = isClient
    ? await clientFrom(source, path, models, flags.from === ofClients)
    : await importFrom(source, path, asked, { taken, models });
  const added = addedVariables(imported, taken);
  const shown = relative(folder, out);
  if (!isDry) {
    write(out, configText(imported), 0o644);
    writeVariables(env, added);
  }
  terminal.print(
    [
      shownReport(imported.report),
      ...(isDry
        ? dryLines(imported, shown, added)
        : [`Wrote ${shown}${added.size > 0 ? ` and ${envFile}. Keep ${envFile} out of version control.` : '.'}`]),
      ...nextSteps(imported, shown, new Set([...taken.keys(), ...added.keys()])),
      '',
    ].join('\n'),
  );
  const problems = imported.report.items.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new CliError(problems === 1 ? 'There is 1 problem.' : `There are ${problems} problems.`);
}

/** @throws UsageError that names the formats */
function formatOf(name: string): Format {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format) return format;
  throw new UsageError(`Expected --from with one of ${[...Object.keys(formats), ofClients].join(', ')}`);
}

/** @throws CliError where nothing of a hosted router is found */
async function clientFrom(
  source: string,
  shown: string,
  models: readonly string[],
  isAsked: boolean,
): Promise<Imported> {
  const imported = await importClient(source, models, isAsked);
  if (imported) return imported;
  throw new CliError(`${shown} names no hosted router, such as openrouter.ai; nothing was written`);
}

async function importFrom(
  source: string,
  shown: string,
  asked: Format | null,
  given: { taken: ReadonlyMap<string, string>; models: readonly string[] },
): Promise<Imported> {
  const file = await parse(readText(source), source);
  const format = asked ?? Object.values(formats).find((one) => one.recognises(file));
  if (format === undefined && asked === null) {
    const client = await importClient(source, given.models);
    if (client) return client;
  }
  if (format === undefined || !format.recognises(file)) {
    const kinds = asked === null ? Object.values(formats).map(({ title }) => title) : [asked.title];
    throw new CliError(
      `${shown} is no config file of ${kinds.join(', ')}${asked === null ? ', and names no hosted router' : ''}; nothing was written`,
    );
  }
  const input = { file, path: source, read: readMapping, ...given, reserved: new Set<string>() };
  // A variable that one place of the file refers to must not get the literal of another: the first run finds them all.
  const { variables } = await format.import(input);
  return format.import({ ...input, reserved: variables.needed });
}

/** The variables of a file; none where it is not there. */
function variablesIn(path: string): Map<string, string> {
  if (!existsSync(path)) return new Map();
  const entries = Object.entries(parseEnv(readText(path)));
  return new Map(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The lines of the `.env` file by variable: the secrets of the file, and what is made for this gateway. */
function addedVariables(imported: Imported, taken: ReadonlyMap<string, string>): Map<string, string> {
  const { variables, report } = imported;
  const values = new Map(variables.secrets);
  const made: [string, string][] = [
    ['GATEWAY_API_KEY', `sk-gw-${randomBytes(24).toString('hex')}`],
    ['GATEWAY_SECRET', randomBytes(32).toString('base64')],
  ];
  const config = configText(imported);
  for (const [name, value] of made)
    if (!values.has(name) && !variables.needed.has(name) && config.includes(`process.env.${name}`))
      values.set(name, value);
  const lines = new Map<string, string>();
  for (const [name, value] of values) {
    if (taken.has(name)) {
      if (variables.secrets.has(name) && taken.get(name) !== value)
        report.warning(name, `has another value in ${envFile}, which stays`);
      continue;
    }
    const line = envLine(name, value);
    if (line === null)
      report.problem(name, `has a value that cannot stand in ${envFile}`, 'Set the variable elsewhere.');
    else lines.set(name, line);
  }
  return lines;
}

/** Adds lines to the `.env` file. It contains secrets: no other user of this machine may read it. */
function writeVariables(path: string, lines: ReadonlyMap<string, string>): void {
  const text = [...lines.values()].join('');
  if (!existsSync(path)) {
    write(path, text, 0o600);
    return;
  }
  if (text === '') return;
  const isEnded = /(?:^|\n)$/.test(readFileSync(path, 'utf8'));
  try {
    appendFileSync(path, `${isEnded ? '' : '\n'}${text}`);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function dryLines(imported: Imported, shown: string, added: ReadonlyMap<string, string>): string[] {
  const variables = added.size > 0 ? [`Would add to ${envFile}: ${[...added.keys()].join(', ')}.`] : [];
  return [`Would write ${shown}:`, '', configText(imported), ...variables];
}

function nextSteps(imported: Imported, shown: string, set: ReadonlySet<string>): string[] {
  const { packages, variables, serve = '' } = imported;
  const needed = [...variables.needed].filter((name) => !set.has(name));
  return [
    ...(packages.length > 0 ? [`Install: npm install ${packages.join(' ')}`] : []),
    ...(needed.length > 0 ? [`Set:     ${needed.join(', ')}`] : []),
    `Check:   npx model-gateway doctor --config ${shown}`,
    `Start:   npx model-gateway serve --config ${shown}${serve}`,
  ];
}

function write(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
