import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputBuffer } from '../../../../src/base/text/output.ts';

const part = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.uint8Array({ maxLength: 300 }));
const output = fc.record({ size: fc.nat({ max: 3000 }), parts: fc.array(part, { maxLength: 12 }) });

/** Writes an output. @returns its bytes */
function written(out: OutputBuffer, parts: readonly (string | Uint8Array)[]): number[] {
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
  return bytes;
}

it('puts texts and pieces together, however large and in whatever order', () => {
  fc.assert(
    fc.property(output, ({ size, parts }) => {
      const out = new OutputBuffer();
      out.begin(size);
      expect(out.isEmpty).toBe(true);
      const bytes = written(out, parts);
      expect(out.isEmpty).toBe(bytes.length === 0);
      expect([...out.take()]).toEqual(bytes);
    }),
  );
});

it('leaves an output as it was when later ones are written, whether they have room or not', () => {
  fc.assert(
    fc.property(fc.array(output, { maxLength: 12 }), fc.boolean(), (outputs, begins) => {
      const out = new OutputBuffer();
      const taken = outputs.map(({ size, parts }) => {
        if (begins) out.begin(size);
        const bytes = written(out, parts);
        return { bytes, output: out.take() };
      });
      for (const { bytes, output } of taken) expect([...output]).toEqual(bytes);
    }),
  );
});

it('goes on when a reader has taken the memory of an output away', () => {
  const out = new OutputBuffer();
  out.begin(100);
  out.write('first');
  const { buffer } = out.take();
  structuredClone(buffer, { transfer: [buffer] });
  out.begin(100);
  out.write('second');
  expect(new TextDecoder().decode(out.take())).toBe('second');
});
