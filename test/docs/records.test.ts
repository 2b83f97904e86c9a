import { it } from 'vitest';
import { checkPage } from './plugin-page.ts';

const path = 'docs/records.md';

it(`${path} shows a gateway that can be made`, async () => {
  await checkPage(path, []);
});
