import { readFileSync, statSync } from 'node:fs';
import { CliError } from '../config.ts';
import { isMapping, type Mapping } from './mapping.ts';

/** Configs are small; anything larger is another file. */
const maxBytes = 4 * 1024 * 1024;

/** @throws CliError that shows nothing of the file: it may hold keys */
export function readText(path: string): string {
  try {
    const found = statSync(path);
    // A device has no end.
    if (!found.isFile()) throw new CliError(`${path} is no file; nothing was written`);
    const { size } = found;
    if (size > maxBytes) throw new CliError(`${path} is larger than 4 MiB; nothing was written`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/**
 * Parses a file of TOML where its name says so, else of YAML, of which JSON is a part.
 * @throws CliError that shows nothing of the file
 */
export async function parse(text: string, path: string): Promise<Mapping> {
  const value = path.endsWith('.toml') ? await parseToml(text, path) : await parseYaml(text, path);
  if (isMapping(value)) return value;
  throw new CliError(`${path} is not a mapping, as config files are; nothing was written`);
}

export async function readMapping(path: string): Promise<Mapping> {
  return parse(readText(path), path);
}

async function parseYaml(text: string, path: string): Promise<unknown> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', lineCounter, merge: true });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new CliError(`${path} is not valid YAML: ${error.code} at line ${line}, column ${col}; nothing was written`);
  }
  try {
    // A few aliases of aliases could become a huge value.
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new CliError(`${path} is not valid YAML: its aliases cannot be resolved; nothing was written`);
  }
}

async function parseToml(text: string, path: string): Promise<unknown> {
  const { parse: parseTomlText, TomlError } = await import('smol-toml');
  try {
    return parseTomlText(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    throw new CliError(`${path} is not valid TOML: line ${line}, column ${column}; nothing was written`);
  }
}
