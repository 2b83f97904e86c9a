import { expect, it } from 'vitest';
import { fileParserDefaults } from '../../src/plugins/file-parser/index.ts';
import { pdfOf } from '../support/pdf.ts';
import { chatAt, gatewayShownIn, settingsIn, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/file-parser.md';

it(`${path} shows a gateway that reads PDFs, and every setting with its default`, async () => {
  const file_data = `data:application/pdf;base64,${Buffer.from(pdfOf(['Hi there'])).toString('base64')}`;
  const messages = [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data } }] }];
  expect(await chatAt(await gatewayShownIn(path), { messages })).toBe('<file name="a.pdf">\nHi there\n</file>');
  expect(settingsIn(path)).toEqual([
    ['isDefault', 'false'],
    ['ocr', undefined],
    ...settingsOf(fileParserDefaults),
    ['reader', undefined],
  ]);
});
