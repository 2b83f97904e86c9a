import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { CliError } from '../../config.ts';
import type { ClientText } from './scan.ts';

/** Kinds of files in which clients name models. */
const kinds = new Set(
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .vue .svelte .py .rb .go .rs .java .kt .cs .php .json .yaml .yml .toml .env'.split(
    ' ',
  ),
);
/** Files that are read as source, and not as the config of a gateway. */
const sources = /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|go|rs|java|kt|cs|php|env)$/;
const leftOut = new Set(['node_modules', 'dist', 'build', 'vendor', 'coverage', '__pycache__', 'venv']);
const mostFiles = 5_000;
const mostBytes = 64 * 1024 * 1024;
const mostBytesOfFile = 1024 * 1024;

/** Tells whether a path is of the source of a client: a folder, or a file of source or of variables. */
export function isClientSource(path: string): boolean {
  const name = basename(path);
  try {
    return statSync(path).isDirectory() || sources.test(name) || name.startsWith('.env');
  } catch {
    return false;
  }
}

/**
 * Reads a file, or the files of a folder in which a client may name models.
 * @returns the texts, with paths relative to the folder, and the number of files that were left out as too large or too many
 * @throws CliError for what cannot be read
 */
export function readClient(path: string): { texts: ClientText[]; leftOut: number } {
  try {
    if (!statSync(path).isDirectory())
      return { texts: [{ path: basename(path), text: readFileSync(path, 'utf8') }], leftOut: 0 };
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const texts: ClientText[] = [];
  let [bytes, omitted] = [0, 0];
  const folders = [path];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(folder)) {
      const full = join(folder, entry.name);
      // A link may lead out of the folder, or back into it.
      if (entry.isDirectory() && !entry.name.startsWith('.') && !leftOut.has(entry.name)) folders.push(full);
      if (!entry.isFile() || !(kinds.has(extname(entry.name)) || entry.name.startsWith('.env'))) continue;
      const { size } = statSync(full);
      if (size > mostBytesOfFile || texts.length >= mostFiles || bytes + size > mostBytes) {
        omitted++;
        continue;
      }
      bytes += size;
      texts.push({ path: relative(path, full), text: readFileSync(full, 'utf8') });
    }
  }
  return { texts, leftOut: omitted };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A folder that may not be read holds nothing of the client's.
    return [];
  }
}
