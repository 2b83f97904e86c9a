import { expect, it } from 'vitest';
import { inOnePiece } from '../../../src/base/in-one-piece.ts';

it.each(['', 'acme/fast', `acme/${'long-'.repeat(9)}name`, 'Zürich 😀', '\ud83d alone'])(
  'is the same text: %j',
  (text) => {
    expect(inOnePiece(text)).toBe(text);
  },
);
