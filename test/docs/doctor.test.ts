import { expect, it } from 'vitest';
import { start } from '../adapters/cli-start.ts';
import { readDoc } from './markdown.ts';

const path = 'docs/doctor.md';

it(`${path} shows what the command prints`, async () => {
  const [, shown = ''] = /```text\n([\s\S]*?)```/.exec(readDoc(path)) ?? [];
  const { code, printed } = start(['doctor']);
  expect(await code).toBe(0);
  const withoutTime = (text: string) => text.replace(/\d+ ms/, 'N ms');
  expect(withoutTime(printed.out)).toBe(withoutTime(shown));
});
