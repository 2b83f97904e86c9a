import { describe, expect, it } from 'vitest';
import { providersPage } from '../../scripts/make-providers-page.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { Gateway } from '../../src/gateway.ts';
import { builtInProviders } from '../../src/providers/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { providersWithoutAddress } from '../../src/providers/without-address.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { readDoc, tableRows } from './markdown.ts';

const page = readDoc('docs/providers.md');

/** Of the tables directly under a heading. */
function rowsOf(heading: string): string[][] {
  return tableRows(page)
    .filter(({ headings }) => headings.at(-1) === heading)
    .map(({ cells }) => cells);
}

describe('docs/providers.md', () => {
  it('shows a gateway that serves the providers which it names', async () => {
    const [example = '', ...others] = examplesOf('docs/providers.md');
    expect(others).toEqual([]);
    const file = writeExample('providers-first', example);
    const { gateway }: { gateway: Gateway } = await import(/* @vite-ignore */ file);
    const shown = (await gateway.providers.list()).data.map(({ slug }) => slug);
    expect(shown).toEqual(expect.arrayContaining(['acme', 'sandbox']));
    await gateway.close();
  });
  it('is what `node scripts/make-providers-page.ts` makes of the providers that are built in', () => {
    expect(providersPage(page)).toBe(page);
  });
  it('has a row for each provider, with its variables', () => {
    const rows = rowsOf('Built-in providers');
    expect(rows.map(([slug]) => slug).toSorted()).toEqual(builtInProviders.map(({ slug }) => `\`${slug}\``).toSorted());
    expect(rows.find(([slug]) => slug === '`openai`')).toEqual([
      '`openai`',
      'OpenAI',
      '`OPENAI_API_KEY`',
      expect.stringContaining('`openai-chat`'),
      '`apiKey`',
      'yes',
      expect.stringContaining('takes `max_completion_tokens` for the largest output'),
    ]);
    expect(rows.find(([slug]) => slug === '`cloudflare`')?.[4]).toBe('`apiKey`, `accountId` (`CLOUDFLARE_ACCOUNT_ID`)');
    expect(rows.find(([slug]) => slug === '`sandbox`')?.[5]).toBe('no');
  });
  it('has a row for each provider whose address the operator must set, and they are the rest of the closed list', () => {
    const without = rowsOf('Without an address').map(([slug = '']) => slug.replaceAll('`', ''));
    expect(without).toEqual(providersWithoutAddress.map(({ slug }) => slug));
    const known = builtInProviders.map(({ slug }) => slug);
    expect(known.filter((slug) => without.includes(slug))).toEqual([]);
  });
  it('counts the providers as README.md does: one number, without the sandbox', () => {
    const count = builtInProviders.filter(({ isSandbox }) => isSandbox !== true).length;
    expect(page).toContain(`\n${count} providers are built in`);
    expect(readDoc('README.md')).toContain(`to one of ${count} providers`);
  });
  it('would differ with one provider more, or another quirk', () => {
    const more = defineProvider({
      slug: 'zzz',
      baseUrl: 'https://z.test',
      dialect: openaiChat,
      quirks: { minMaxTokens: 9 },
    });
    expect(providersPage(page, [...builtInProviders, more])).toContain(
      '| `zzz` | zzz | | `openai-chat` | `apiKey` | yes | refuses a largest output below 9 tokens',
    );
  });
});
