import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputBuffer } from '../../../../src/base/text/output.ts';

it('puts texts and pieces together, however large and in whatever order', () => {
  const part = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.nat({ max: 64 }), (parts, capacity) => {
      const out = new OutputBuffer(capacity);
      expect(out.isEmpty).toBe(true);
      const bytes: number[] = [];
      for (const one of parts) {
        if (typeof one === 'string') {
          out.write(one);
          bytes.push(...new TextEncoder().encode(one));
        } else {
          // From the middle of something larger.
          const padded = Uint8Array.of(1, 2, ...one, 3);
          out.copy(padded, 2, 2 + one.length);
          bytes.push(...one);
        }
      }
      expect(out.isEmpty).toBe(bytes.length === 0);
      expect([...out.take()]).toEqual(bytes);
    }),
  );
});
