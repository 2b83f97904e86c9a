import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export function readDoc(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Files of the project by their path from its root: what is in git or would be, without what is ignored. */
export function projectFiles(...patterns: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return [...new Set(listed.split('\0').filter((path) => path !== ''))];
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
