// Copies the sources for `tsup`, which makes the declarations of the package from them, with the inferred types written
// out.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { inProcessEdit } from './in-process-types.ts';
import { createTypePrinter, type Edit } from './print-types.ts';
import { projectRoot, sourceProgram } from './source-program.ts';

export function makeDeclarations(folder = join(projectRoot, '.cache', 'declarations')): void {
  const { ours, editsOf } = createTypePrinter(sourceProgram(), projectRoot);
  const inProcess = inProcessEdit(ours);
  rmSync(folder, { recursive: true, force: true });
  for (const file of ours) {
    const target = join(folder, relative(projectRoot, file.fileName));
    mkdirSync(dirname(target), { recursive: true });
    const more = file === inProcess.file ? [inProcess.edit] : [];
    writeFileSync(target, edited(file.text, [...editsOf(file), ...more]));
  }
}

function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, { start, end, text: by }) => all.slice(0, start) + by + all.slice(end), text);
}

if (import.meta.main) makeDeclarations();
