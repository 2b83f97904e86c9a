import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const script = join(root, 'scripts', 'draw-diagrams.mjs');

function drawn(): Record<string, string> {
  const program = `import { diagrams } from ${JSON.stringify(script)}; console.log(JSON.stringify(diagrams()))`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
}

it('draws the diagrams that the docs show', () => {
  const found = drawn();
  expect(Object.keys(found)).toEqual(
    ['overview', 'request', 'money', 'routing', 'attempts'].map((name) => `docs/img/${name}.svg`),
  );
  for (const [path, content] of Object.entries(found)) expect(readFileSync(join(root, path), 'utf8')).toBe(content);
});
it('has text for dark pages, and nothing that is fetched or run', () => {
  for (const content of Object.values(drawn())) {
    expect(content).toContain('prefers-color-scheme:dark');
    expect(content.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|<image|href/);
  }
});
it('names stages that the page of the architecture names too', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const boxes = [...(drawn()['docs/img/request.svg'] as string).matchAll(/class="strong">([\w./]+)</g)];
  const names = boxes.map(([, name]) => name as string).filter((name) => !['Request', 'Provider'].includes(name));
  expect(names).toHaveLength(13);
  expect(names.filter((name) => !page.includes(name))).toEqual([]);
});
