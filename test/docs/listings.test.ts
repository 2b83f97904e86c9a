import { describe, expect, it } from 'vitest';
import { defaultOptions } from '../../adapters/cli/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { operations } from '../../src/operations/index.ts';
import { modelSorts, modelsQuery } from '../../src/schema/models/model.ts';
import { likeness } from './likeness.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const doc = readDoc('docs/listings.md');
const rows = tableRows(doc);
const key = 'sk-the-key-that-npm-start-prints';

const named = (column: string) =>
  rows.filter(({ columns }) => columns[0] === column).flatMap(({ cells }) => quoted(cells[0] as string));

describe('docs/listings.md', () => {
  it('shows commands that answer as it says', async () => {
    const gateway = createGateway({ ...defaultOptions({}), apiKeys: [{ key }] });
    const shown = [...doc.matchAll(/^```sh\ncurl (\S+) -H "(\w+): (.*)"\n```(?:\n\n```json\n([\s\S]*?)^```)?$/gm)];
    expect(shown.length).toBe(doc.match(/^```sh$/gm)?.length);
    for (const [, url = '', header = '', value = '', json] of shown) {
      const response = await gateway.fetch(url, { headers: { [header]: value.replace('$GATEWAY_API_KEY', key) } });
      const body = (await response.json()) as { data: unknown[] };
      expect(response.status).toBe(200);
      if (json === undefined) expect(body.data.length).toBeGreaterThan(0);
      else expect(body).toEqual(likeness(JSON.parse(json)));
    }
  });
  it('has a row for every listing, and no other', () => {
    const known = operations({ brand: 'service' } as never)
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)\+?/g, '{$1}')}`)
      // A call of the Gemini API has its name at the end of the path of a model.
      .filter((name) => /\/models?\b|\/endpoints\b|\/providers\b/.test(name) && !name.includes('[:]'));
    expect(named('Operation').toSorted()).toEqual(known.toSorted());
  });
  it('has a row for every parameter and every sort, and no other', () => {
    expect(named('Parameter').toSorted()).toEqual(Object.keys(modelsQuery().out.shape).toSorted());
    expect(named('`sort`').toSorted()).toEqual([...modelSorts].toSorted());
  });
});
