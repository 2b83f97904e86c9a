import { expect, it } from 'vitest';
import type { SearchEngine } from '../../src/call/search.ts';
import * as search from '../../src/entries/search.ts';
import { webDefaults } from '../../src/plugins/web.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';
import { checkPage, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/web.md';

it(`${path} shows a gateway that can be made, and every setting with its default`, async () => {
  await checkPage(path, [['isDefault', 'false'], ...settingsOf(webDefaults), ['searchPrompt', undefined]]);
});

it(`${path} lists every search engine with its price`, () => {
  const rows = tableRows(readDoc(path)).filter(({ columns }) => columns[0] === 'Engine');
  const listed = rows.map(({ cells: [name = '', made = '', price = '', country = '', domains = ''] }) => ({
    name: quoted(name)[0],
    maker: /^`(\w+)/.exec(made)?.[1],
    usd: /\$([\d.]+)/.exec(price)?.[1] ?? '0',
    takesCountry: country === 'yes',
    takesOneDomainList: domains === 'one of both lists',
  }));
  const makers = new Map(Object.entries(search));
  expect(listed.map(({ maker }) => maker).toSorted()).toEqual([...makers.keys()].toSorted());
  for (const { name, maker, usd, takesCountry, takesOneDomainList } of listed) {
    const make = makers.get(maker as string) as (options: object) => SearchEngine;
    const key = maker === 'searxngSearch' ? {} : { apiKey: 'k' };
    const engine = make({ ...key, baseUrl: 'http://127.0.0.1:1' });
    expect({
      name: engine.name,
      usd: String(engine.priceOf(5) / 1e9),
      takesCountry: engine.takesCountry === true,
      takesOneDomainList: engine.takesOneDomainList === true,
    }).toEqual({ name, usd, takesCountry, takesOneDomainList });
  }
});
