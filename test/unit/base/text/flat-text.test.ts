import { expect, it } from 'vitest';
import { flatText } from '../../../../src/base/text/flat-text.ts';

it.each(['', 'acme/fast', `acme/${'long-'.repeat(9)}name`, 'Zürich 😀', '\ud83d alone'])(
  'is the same text: %j',
  (text) => {
    expect(flatText(text)).toBe(text);
  },
);
