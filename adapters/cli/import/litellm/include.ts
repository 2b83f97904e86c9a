import { dirname, resolve } from 'node:path';
import { listOf, type Mapping } from '../mapping.ts';
import type { Report } from '../report.ts';

const mostFiles = 100;

/**
 * Merges the files that `include` names, as the proxy does: lists are joined, other settings are replaced.
 * @param read  reads a file of YAML; throws an Error whose message says why it cannot, and shows nothing of it
 */
export async function withIncluded(
  file: Mapping,
  path: string,
  read: (path: string) => Promise<Mapping>,
  report: Report,
): Promise<Mapping> {
  const merged: Record<string, unknown> = { ...file };
  const seen = new Set([resolve(path)]);
  const waiting = namesIn(file, path);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (seen.has(next.path)) {
      report.note(next.where, 'is included twice, and counts once');
      continue;
    }
    if (seen.size > mostFiles) {
      report.problem('include', `has more than ${mostFiles} files`, 'Import the others by themselves.');
      break;
    }
    seen.add(next.path);
    try {
      const included = await read(next.path);
      mergeInto(merged, included);
      waiting.push(...namesIn(included, next.path));
    } catch (error) {
      const reason = (error as Error).message.replace(/; nothing was written$/, '');
      report.problem(next.where, `was not read: ${reason}`, 'Put the file there, and import again.');
    }
  }
  return merged;
}

function namesIn(file: Mapping, path: string): { path: string; where: string }[] {
  return listOf(file, 'include').flatMap((name, at) =>
    typeof name === 'string' ? [{ path: resolve(dirname(path), name), where: `include[${at}]` }] : [],
  );
}

function mergeInto(merged: Record<string, unknown>, included: Mapping): void {
  for (const [name, value] of Object.entries(included)) {
    if (name === 'include') continue;
    const known = merged[name];
    merged[name] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value;
  }
}
