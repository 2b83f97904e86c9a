import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { cores } from './processes.ts';

/**
 * Measures the first `import()` of a module, each time in a new process. The files are in the page cache.
 * @param specifier  a file URL
 * @returns milliseconds, one value per process
 */
export function timeImports(specifier: string, times: number): number[] {
  timeImport(specifier);
  return Array.from({ length: times }, () => timeImport(specifier));
}

function timeImport(specifier: string): number {
  const code = `const start = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - start);`;
  const command = [process.execPath, '--input-type=module', '--eval', code];
  const [file = '', ...args] = cores === null ? command : ['taskset', '-c', String(cores['under-test']), ...command];
  const { stdout, stderr, status } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`importing ${specifier} failed: ${stderr}`);
  return Number(stdout);
}
