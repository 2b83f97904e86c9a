import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, UsageError } from './config.ts';
import { envLine, sourceOf } from './config-source.ts';
import { importLitellm } from './import/litellm/config.ts';
import { isMapping, type Mapping, memberOf } from './import/values.ts';
import type { Terminal } from './terminal.ts';

const configFile = 'gateway.config.mjs';
const envFile = '.env';
/** Configs are small; anything larger is another file. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Writes a config file for the config file of another gateway, and a file of environment variables for the secrets in
 * it. Nothing is overwritten, and no value of the file is printed.
 * @throws CliError where nothing was written; and, after the files were written, with the list of what could not be
 *   expressed
 */
export async function importConfig(terminal: Terminal, path: string | undefined): Promise<void> {
  if (path === undefined) throw new UsageError('Expected a file: model-gateway import litellm.yaml');
  const { folder } = terminal;
  for (const name of [configFile, envFile])
    if (existsSync(join(folder, name))) throw new CliError(`${join(folder, name)} exists already; nothing was written`);
  const file = await readYaml(resolve(folder, path));
  if (!Array.isArray(memberOf(file, 'model_list')))
    throw new CliError(`${path} has no list model_list, as a config file of LiteLLM has; nothing was written`);
  const { imports, options, packages, findings } = importLitellm(file);
  const env = new Map(findings.secrets);
  // The variables that the config needs and the file does not set.
  const made: [string, string][] = [
    ['GATEWAY_API_KEY', `sk-gw-${randomBytes(24).toString('hex')}`],
    ['GATEWAY_SECRET', randomBytes(32).toString('base64')],
  ];
  const config = `${imports.map((line) => `${line}\n`).join('')}
/** @type {import('model-gateway').GatewayOptions} */
export default ${sourceOf(options)};
`;
  for (const [name, value] of made)
    if (!env.has(name) && !findings.needed.has(name) && config.includes(`process.env.${name}`)) env.set(name, value);
  let variables = '';
  for (const [name, value] of env) {
    const line = envLine(name, value);
    if (line === null) findings.cannot(name, `its value cannot stand in ${envFile}; set the variable elsewhere`);
    else variables += line;
  }
  write(join(folder, configFile), config, 0o644);
  // The file contains secrets: no other user of this machine may read it.
  write(join(folder, envFile), variables, 0o600);
  const needed = [...findings.needed].filter((name) => !env.has(name));
  terminal.print(
    [
      `Wrote ${configFile} and ${envFile}. Keep ${envFile} out of version control.`,
      ...(packages.length > 0 ? [`Install: npm install ${packages.join(' ')}`] : []),
      ...(needed.length === 0 ? [] : [`Set:     ${needed.join(', ')}`]),
      `Start:   npx model-gateway serve --config ${configFile}`,
      '',
    ].join('\n'),
  );
  if (findings.items.length > 0)
    throw new CliError(`Not expressed, or not as it was:\n${findings.items.map((item) => `  ${item}`).join('\n')}`);
}

/** @throws CliError that shows nothing of the file: it may hold keys */
async function readYaml(path: string): Promise<Mapping> {
  let text: string;
  try {
    if (statSync(path).size > maxBytes) throw new CliError(`${path} is larger than 4 MiB; nothing was written`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  // Only this command needs it.
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', lineCounter });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new CliError(`${path} is not valid YAML: ${error.code} at line ${line}, column ${col}; nothing was written`);
  }
  let value: unknown;
  try {
    // A few aliases of aliases could become a huge value.
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new CliError(`${path} is not valid YAML: its aliases cannot be resolved; nothing was written`);
  }
  if (isMapping(value)) return value;
  throw new CliError(`${path} is not a mapping, as a config file of LiteLLM is; nothing was written`);
}

function write(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
