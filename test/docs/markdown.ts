import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export function readDoc(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What git answers; null where this is no checkout, such as in an unpacked archive. */
export function git(...args: string[]): string | null {
  // A checkout may belong to another user, as in a container.
  const all = ['-c', 'safe.directory=*', ...args];
  try {
    return execFileSync('git', all, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null;
  }
}

/** Files of the project by their path from its root, without what was installed or made. */
export function projectFiles(): string[] {
  const tracked = git('ls-files', '-z');
  if (tracked !== null) return tracked.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
  const all = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return all
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist|coverage|\.[^/]*)\//.test(path));
}

/** Code blocks of a language, in order. */
export function codeBlocks(markdown: string, language: string): string[] {
  const blocks = markdown.matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm);
  return [...blocks].filter(([, , found]) => found === language).map(([, , , code]) => code ?? '');
}

export interface Row {
  /** Headings above, the outermost first. */
  headings: string[];
  /** First line of the table. */
  columns: string[];
  cells: string[];
}

/** Rows of every table. A bar inside backticks does not end a cell. */
export function tableRows(markdown: string): Row[] {
  const rows: Row[] = [];
  const headings: string[] = [];
  let columns: string[] | null = null;
  for (const line of markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '').split('\n')) {
    const heading = /^(#+) (.*)$/.exec(line);
    if (heading) headings.splice((heading[1] as string).length - 1, Number.POSITIVE_INFINITY, heading[2] as string);
    if (!line.startsWith('|')) {
      columns = null;
      continue;
    }
    const cells = [...line.slice(1).matchAll(/((?:`[^`]*`|[^|`])*)\|/g)].map(([, cell]) => (cell ?? '').trim());
    if (columns === null) columns = cells;
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) rows.push({ headings: [...headings], columns, cells });
  }
  return rows;
}

/** What stands in backticks. */
export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}
