import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../support/cpu-time.ts';

/** Every regular expression in the sources, by file. */
const found = ['src', 'adapters'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => expressionsIn(join(folder, name))),
);

function expressionsIn(path: string): { path: string; expression: RegExp }[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const expressions: { path: string; expression: RegExp }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      expressions.push({ path, expression: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return expressions;
}

/** What is repeated: every usual sign, and pieces that some expression takes for one part of its text or for two. */
const pieces = [...' 1a-:/.,"\\=*[\x1b', '-v1:1', '-100', ':1', 'a-', '1.', '\\"', '"delta"'];
/** What may stand before them, for expressions that begin with something of their own. */
const beginnings = ['', 'a', '1', 'bearer ', '~a/', '"delta"', '\x1b['];

/** The least of three times: on a busy machine, a process may have to wait for its turn. */
function leastMs(expression: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least >= 100; tries++) {
    const start = cpuMs();
    text.replace(expression, '');
    least = Math.min(least, cpuMs() - start);
  }
  return least;
}

describe('regular expressions', () => {
  it('were found', () => {
    expect(found.length).toBeGreaterThan(60);
  });

  it.each(found.map(({ path, expression }) => [`${expression} in ${path}`, expression] as const))(
    'take time in proportion to the text: %s',
    (_, expression) => {
      for (const piece of pieces) {
        for (const beginning of beginnings) {
          // Short first: where each repetition doubles the time, the long text would never come to its end.
          for (const length of [100, 20_000]) {
            const text = `${beginning}${piece.repeat(length / piece.length)}\0`;
            // A few microseconds to a millisecond; where the time grows with the square of the length, 200 ms and more.
            expect(leastMs(expression, text), JSON.stringify([beginning, piece, length])).toBeLessThan(100);
          }
        }
      }
    },
  );
});
