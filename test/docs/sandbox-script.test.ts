import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { answerSchema } from '../../src/providers/sandbox/answer.ts';
import { sandboxScript } from '../../src/providers/sandbox/script.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, root, tableRows } from './markdown.ts';
import { membersOf } from './members.ts';

const [vitest = '', node = '', ...others] = examplesOf('docs/sandbox.md');

// Its tests run as tests of this file.
await import(/* @vite-ignore */ writeExample('sandbox-vitest', vitest));

describe('docs/sandbox.md', () => {
  it('shows no example that is not run here', () => {
    expect(others).toEqual([]);
  });
  it('shows a test that node:test runs', { timeout: 60_000 }, () => {
    const path = writeExample('sandbox-node', node);
    // Node would take a test runner that started it for its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--conditions=model-gateway-source', '--test', '--test-reporter=tap', path];
    const { stdout, status } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('# pass 1')]);
  });
  it('has a row for every field of an answer and every member of a script', () => {
    const rows = tableRows(readDoc('docs/sandbox.md')).filter(({ headings }) => headings.includes('Scripted answers'));
    const named = (column: string) =>
      rows
        .filter(({ columns }) => columns[0] === column)
        .map(({ cells }) => quoted(cells[0] as string)[0]?.replace(/\(.*/, ''));
    expect(named('Field')).toEqual(Object.keys(answerSchema().shape));
    const { take, ...members } = sandboxScript([]);
    expect(named('Of a script').toSorted()).toEqual(Object.keys(members).toSorted());
    const told = rows.find(({ cells }) => cells[0] === '`requests`')?.cells[1] as string;
    expect(quoted(told)).toEqual(membersOf('src/providers/sandbox/answer.ts', 'ScriptRequest'));
  });
});
