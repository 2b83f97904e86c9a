import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { ConsolePage } from '../adapters/console/assets.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Makes the page of the console of its sources. The published package holds the result, as `console-page.js`; in the
 * source tree it is made at the first use.
 */
async function makePage(): Promise<ConsolePage> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join('adapters', 'console', 'page', 'main.tsx')],
    outdir: 'out',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const files: Record<string, { type: string; text: string }> = {};
  const add = (ending: string, type: string) => {
    const text = outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    const name = `console-${createHash('sha256').update(text).digest('hex').slice(0, 16)}${ending}`;
    files[name] = { type, text };
    return name;
  };
  return {
    script: add('.js', 'text/javascript; charset=utf-8'),
    styles: add('.css', 'text/css; charset=utf-8'),
    files,
  };
}

export const consolePage = await makePage();
