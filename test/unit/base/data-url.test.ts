import { describe, expect, it } from 'vitest';
import { readDataUrl } from '../../../src/base/data-url.ts';

describe('a data URL', () => {
  it.each([
    ['data:image/png;base64,AAA=', { mediaType: 'image/png', base64: 'AAA=' }],
    ['DATA:Image/PNG;name=a;Base64,AAA=', { mediaType: 'image/png', base64: 'AAA=' }],
    ['data:;base64,AA', { mediaType: 'text/plain', base64: 'AA' }],
    ['data:text/plain,hello', null],
    ['data:image/png;base64', null],
    ['https://example.com/data:image/png;base64,AAA', null],
    [`data:${'x'.repeat(300)};base64,AA`, null],
  ])('%s', (url, expected) => {
    expect(readDataUrl(url)).toEqual(expected);
  });
});
