import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { CliError } from './config.ts';
import { type SqliteStore, sqliteStore } from './sqlite.ts';

/** What `serve` keeps between two runs. */
export interface DataFolder {
  path: string;
  /** null: this runtime has no SQLite, and nothing is kept. */
  store: SqliteStore | null;
  /** What stored provider keys are sealed with; null where the options have something for that. */
  secret: string | null;
  /** What the person at the terminal should know, a line each. */
  warnings: string[];
}

/**
 * Opens a folder with `gateway.db` and `secret`, which are made where they are not there. Several starts at once agree
 * on what they make.
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
    // It often lies in a project: what is in it must not get into its history.
    if (made !== undefined) writeFileSync(join(path, '.gitignore'), '*\n');
  } catch (error) {
    throw new CliError(`The data folder ${path} cannot be made: ${messageOf(error)}. ${otherFolder}`);
  }
}

/** @param hasData  whether there is a database, which then was made with a secret */
function keepSecret(path: string, hasData: boolean): { secret: string; warnings: string[] } {
  try {
    const found = readSecret(path);
    const secret = found ?? makeSecret(path);
    // As long as those that are made here: less than that was cut, or is somebody's password.
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

/** null: there is none. */
function readSecret(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A link appears whole, and once: whoever comes second reads what the first has made, never half of it. */
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
