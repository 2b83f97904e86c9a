import { ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const doc = readFileSync(join(folder, '../../../docs/clients.md'), 'utf8');
const sources = ['.', '../clients-openrouter'].flatMap((path) =>
  readdirSync(join(folder, path))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => flat(readFileSync(join(folder, path, name), 'utf8'))),
);

/** @returns a check for each example of docs/clients.md: its paragraphs, and each of its imports, are code that ran here */
export function snippetChecks() {
  const blocks = [...doc.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  return {
    'there are examples': () => ok(blocks.length >= 6),
    ...Object.fromEntries(blocks.map((text, at) => [`example ${at + 1}`, () => checkBlock(text)])),
  };
}

function checkBlock(text) {
  for (const paragraph of text.split(/\n\s*\n/)) {
    const isImports = paragraph.startsWith('import ');
    for (const part of isImports ? paragraph.trim().split('\n') : [paragraph]) {
      ok(
        sources.some((source) => source.includes(flat(part))),
        `not in the tested code: ${part}`,
      );
    }
  }
}

/** Lines without indentation; a line that tells of the test's own needs ends in `fetch,` or `...options,`. */
function flat(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== 'fetch,' && line !== '...options,')
    .join('\n')
    .trim();
}
