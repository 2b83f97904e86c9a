import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForwardedEvents } from '../../../src/formats/gemini/encoder/forwarded.ts';
import { oneLine } from '../../../src/formats/gemini/one-line.ts';
import { runs } from '../../support/runs.ts';

const head = { id: 'gen-1', model: 'bench/"gemini"' };

/** An event alone, and behind one that is as usual. */
function forwarded(data: string): string[] {
  const events = new ForwardedEvents();
  events.take('{"modelVersion":"m","responseId":"r"}', head);
  return [new ForwardedEvents().take(data, head) as string, events.take(data, head) as string];
}

// Texts that look like the names, or like the ends of texts.
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('modelVersion', 'responseId', '"', '\\', '": "', '"modelVersion":"x"', 'responseId":'),
);
const blank = fc.constantFrom('', ' ', '\n', '\r\n\t ');
const member = fc.record({
  name: fc.constantFrom('modelVersion', 'responseId', 'usageMetadata', 'candidates'),
  value: fc.oneof(text, fc.integer(), fc.constant(null), fc.array(text, { maxLength: 3 })),
  blanks: fc.tuple(blank, blank, blank),
});

describe('an event of Gemini on its way to a client', () => {
  it('has the model and the id of the gateway, and everything else as it came', () => {
    fc.assert(
      fc.property(fc.uniqueArray(member, { selector: ({ name }) => name, maxLength: 4 }), (members) => {
        const written = members.map(({ name, value, blanks: [a, b, c] }) => {
          const shown = name === 'candidates' ? [{ content: { parts: [{ text: value }] } }] : value;
          return `${a}${JSON.stringify(name)}${b}:${c}${JSON.stringify(shown)}`;
        });
        const data = `{${written.join(',')}}`;
        for (const out of forwarded(data))
          expect(JSON.parse(out)).toEqual({ ...JSON.parse(data), modelVersion: head.model, responseId: head.id });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  it('keeps its bytes where both names stand once, whichever comes first', () => {
    for (const out of forwarded('{"a": 1.50, "modelVersion" : "m","responseId":"r" }'))
      expect(out).toBe('{"a": 1.50, "modelVersion" : "bench/\\"gemini\\"","responseId":"gen-1" }');
    for (const out of forwarded('{"responseId":"r","b":[ 1 ],"modelVersion":""}'))
      expect(out).toBe('{"responseId":"gen-1","b":[ 1 ],"modelVersion":"bench/\\"gemini\\""}');
  });

  it('is read where a name has escapes in its value, or stands twice', () => {
    for (const data of ['{"modelVersion":"\\"m","responseId":"r"}', '{"responseId":"r","responseId":"s"}'])
      for (const out of forwarded(data))
        expect(JSON.parse(out)).toEqual({ modelVersion: head.model, responseId: head.id });
  });

  it('keeps what stands deeper inside under these names', () => {
    const inside = { candidates: [{ content: { parts: [] }, own: { modelVersion: 'a', responseId: 'b' } }] };
    const out = new ForwardedEvents().take(JSON.stringify(inside), head) as string;
    expect(JSON.parse(out)).toEqual({ ...inside, modelVersion: head.model, responseId: head.id });
  });
});

describe('one line', () => {
  it('holds no end of a line, and is the same JSON', () => {
    expect(oneLine('{"a":"b"}')).toBe('{"a":"b"}');
    for (const sign of ['\r', '\n', '\r\n']) expect(oneLine(`{${sign}"a":1}`)).toBe('{ "a":1}');
    for (const sign of ['\u2028', '\u2029']) {
      const line = oneLine(JSON.stringify({ a: sign }));
      expect(line).not.toContain(sign);
      expect(JSON.parse(line)).toEqual({ a: sign });
    }
  });
});
