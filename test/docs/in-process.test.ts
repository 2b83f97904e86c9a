import { describe, expect, it } from 'vitest';
import type { CallerGateway, Gateway } from '../../src/gateway.ts';
import { operations } from '../../src/operations/index.ts';
import type { Explanation } from '../../src/schema/chat/explanation.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { readDoc, tableRows } from './markdown.ts';

const doc = 'docs/in-process.md';
const [example = '', asking = '', ...others] = examplesOf(doc);

interface Shown {
  gateway: Gateway;
  ada: CallerGateway;
  acme: { id: string };
  budgets: object[];
  key: string;
  models: { id: string }[];
  explanation: Explanation;
}

describe(doc, () => {
  it('shows no example that is not run here', () => {
    expect(others).toEqual([]);
  });
  it('makes a workspace with a budget, and a key as one of its users', async () => {
    const code = example.replace("let refused = '';", "export let refused = '';");
    const shown = await import(/* @vite-ignore */ writeExample('in-process', code));
    const { gateway, ada, acme, budgets, key, explanation, models } = shown as Shown;
    expect(budgets).toMatchObject([{ workspace_id: acme.id, limit_usd: 0.5 }]);
    expect(key).toMatch(/^sk-gw-/);
    expect(models.every(({ id }) => id.startsWith('sandbox/'))).toBe(true);
    expect(explanation).toMatchObject({ requested: 'sandbox/lorem', error: null });
    expect(explanation.budgets).toMatchObject([{ scope: 'workspace', interval: 'daily', limit_usd: 0.5 }]);
    expect(shown.refused).toMatch(/^400 limit_usd: expected /);
    expect((await ada.workspaces.list()).data.map(({ slug }) => slug)).toEqual(['acme']);
    expect((await gateway.workspaces.list()).total_count).toBe(2);
    await gateway.close();
  });
  it('asks a model as one of its users, complete and as a stream', async () => {
    const code = asking.replace('const { choices, usage }', 'export const { choices, usage }');
    const shown = await import(/* @vite-ignore */ writeExample('in-process-asking', code));
    expect(shown.choices[0].message.content).toBe('Hello');
    expect(shown.usage.cost).toBeGreaterThan(0);
    expect([shown.text, shown.broken]).toEqual([expect.stringMatching(/^This is the sandbox/), '']);
    await shown.gateway.close();
  });
  it('has a row for every operation that has a function, with what its path needs', () => {
    const rows = tableRows(readDoc(doc)).filter(
      ({ columns }) => columns[0] === 'Function' && columns[1] === 'Operation' && columns.length === 2,
    );
    const told = rows.map(({ cells }) => {
      const [, place, given = ''] = /^`([\w.]+)\((?:\{(.*)\}|body)?\)`$/.exec(cells[0] ?? '') ?? [];
      const names = given.split(',').map((name) => name.trim());
      return { place, operation: cells[1]?.replaceAll('`', ''), names };
    });
    const known = operations({ brand: 'service' } as never).filter(({ api }) => api !== undefined);
    expect(told.map(({ place, operation }) => [place, operation])).toEqual(
      known
        .map(({ api, method, path }) => [api, `${method} ${path.replace(/:(\w+)\+?/g, '{$1}')}`])
        .toSorted((one, other) => rank(told, one[0]) - rank(told, other[0])),
    );
    for (const { operation = '', names } of told)
      for (const [, name] of operation.matchAll(/\{(\w+)\}/g))
        expect([operation, names]).toEqual([operation, expect.arrayContaining([name])]);
  });
});

/** Order does not matter; what is not told is last. */
function rank(told: readonly { place: string | undefined }[], place: string | undefined): number {
  const at = told.findIndex((one) => one.place === place);
  return at < 0 ? told.length : at;
}
