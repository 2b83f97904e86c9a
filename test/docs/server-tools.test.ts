import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { builtInTools } from '../../src/server-tools/index.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, quoted, readDoc, tableRows } from './markdown.ts';
import { membersOf } from './members.ts';

const path = 'docs/server-tools.md';
const headers = { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' };

describe(path, () => {
  it('shows a gateway with a tool, and requests that it takes', async () => {
    const [code = '', ...others] = examplesOf(path);
    expect(others).toEqual([]);
    const { gateway } = (await import(/* @vite-ignore */ writeExample('server-tools', code))) as { gateway: Gateway };
    const [shown = ''] = codeBlocks(readDoc(path), 'json');
    const ask = (body: object) =>
      gateway.fetch('http://in-process/v1/chat/completions', { method: 'POST', headers, body: JSON.stringify(body) });
    expect((await ask(JSON.parse(shown))).status).toBe(200);
    const offered = (sides: number) => ({
      ...JSON.parse(shown),
      tools: [{ type: 'service:dice', parameters: { sides } }],
    });
    expect((await ask(offered(20))).status).toBe(200);
    expect((await ask(offered(1))).status).toBe(400);
    await gateway.close();
  });
  it('has a row for every member of a tool', () => {
    const rows = tableRows(readDoc(path)).filter(({ columns }) => columns[0] === 'Member of a tool');
    const named = rows.flatMap(({ cells: [names = ''] }) => quoted(names)).map((name) => name.replace(/\(.*/, ''));
    expect(named.toSorted()).toEqual(membersOf('src/server-tools/server-tool.ts', 'ServerTool').toSorted());
  });
  it('lists every tool that is built in', () => {
    const rows = tableRows(readDoc(path)).filter(({ columns }) => columns[0] === 'Tool');
    expect(rows.map(({ cells: [name = ''] }) => quoted(name)[0])).toEqual(
      builtInTools(1).map(({ name }) => `service:${name}`),
    );
  });
});
