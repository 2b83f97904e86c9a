import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { type SqliteStore, sqliteStore } from '../sqlite/sqlite.ts';
import { CliError } from './config.ts';

/** The data that `serve` keeps between two runs. */
export interface DataFolder {
  path: string;
  /** null: this runtime has no SQLite, so nothing is kept. */
  store: SqliteStore | null;
  /** The secret for sealing provider keys; null if the options have one. */
  secret: string | null;
  /** Messages for the person at the terminal, one per line. */
  warnings: string[];
}

/**
 * Opens a folder with `gateway.db` and `secret`. Creates them if they do not exist. Processes that start at the same
 * time end up with the same files.
 * @throws CliError
 */
export function openDataFolder(given: string, { needsSecret = true } = {}): DataFolder {
  const path = resolve(given);
  if (!process.getBuiltinModule?.('node:sqlite')) {
    return { path, store: null, secret: needsSecret ? newSecret() : null, warnings: [] };
  }
  makeFolder(path);
  const file = join(path, 'gateway.db');
  const { secret, warnings } = needsSecret
    ? keepSecret(join(path, 'secret'), existsSync(file))
    : { secret: null, warnings: [] };
  try {
    return { path, store: sqliteStore(file), secret, warnings };
  } catch (error) {
    throw new CliError(`${messageOf(error)}. ${otherFolder}`);
  }
}

const otherFolder = 'Choose another folder with --data or MODEL_GATEWAY_DATA.';

function makeFolder(path: string): void {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 });
    // The folder is often in a project: its files must not get into the project's git history.
    if (made !== undefined) writeFileSync(join(path, '.gitignore'), '*\n');
  } catch (error) {
    throw new CliError(`The data folder ${path} cannot be made: ${messageOf(error)}. ${otherFolder}`);
  }
}

/** @param hasData  whether there is a database, which then had a secret */
function keepSecret(path: string, hasData: boolean): { secret: string; warnings: string[] } {
  try {
    const found = readSecret(path);
    const secret = found ?? makeSecret(path);
    // Secrets that we make have this length. A shorter one was cut, or is a password.
    if (secret.length < 32) {
      throw new CliError(
        `The file ${path} holds no secret of at least 32 characters. Put back the one it had: stored provider keys open with no other. Where there are none, remove the file.`,
      );
    }
    const lost = `The secret ${path} was gone, and a new one has been made: provider keys stored before do not open until the old one is put back.`;
    return { secret, warnings: [...(hasData && found === null ? [lost] : []), ...modeWarnings(path)] };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`The secret ${path} can be neither read nor made: ${messageOf(error)}. ${otherFolder}`);
  }
}

/** @returns null: there is no secret */
function readSecret(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * A link appears complete, and only once. A process that comes second reads the secret of the first, never a part of
 * it.
 */
function makeSecret(path: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${newSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readSecret(path) ?? '';
}

function modeWarnings(path: string): string[] {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return [];
  return [`The secret ${path} can be read by other users of this machine: chmod 600 ${path}`];
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
