import { expect } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

/** The gateway of the one example that the page of a plugin has. */
export async function gatewayShownIn(path: string): Promise<Gateway> {
  const [code = '', ...others] = examplesOf(path);
  if (others.length > 0) throw new Error(`${path} has more than one example`);
  const name = path.replace(/[^a-z]+/g, '-');
  return ((await import(/* @vite-ignore */ writeExample(name, code))) as { gateway: Gateway }).gateway;
}

/** What a gateway of the docs answers to a chat request. */
export async function chatAt(gateway: Gateway, body: object): Promise<string | null | undefined> {
  const response = await gateway.fetch('http://in-process/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', ...body }),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  await gateway.close();
  return choices[0]?.message.content;
}

/** Name and default of each setting. */
export function settingsIn(path: string): (string | undefined)[][] {
  const rows = tableRows(readDoc(path)).filter(({ columns }) => columns[0] === 'Setting');
  return rows.map(({ cells: [name = '', value = ''] }) => [quoted(name)[0], quoted(value)[0]]);
}

/** The same of the defaults that a plugin exports. */
export function settingsOf(defaults: object): string[][] {
  return Object.entries(defaults).map(([name, value]) => [name, String(value)]);
}

/** The gateway that a page shows can be made, and its settings are these. @param settings  name and default of each */
export async function checkPage(path: string, settings: readonly (string | undefined)[][]): Promise<void> {
  const gateway = await gatewayShownIn(path);
  expect(typeof gateway.fetch).toBe('function');
  await gateway.close();
  expect(settingsIn(path)).toEqual(settings);
}
