import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJudgement } from '../../../src/plugins/fusion/comparison.ts';
import { answersJson, boundedJson, judgementJson } from '../../../src/plugins/fusion/prompts.ts';
import { newEffort, textBound } from '../../../src/pricing/token-bound.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { comparison } from '../../support/fusion.ts';

const json = JSON.stringify(comparison);
const empty = { consensus: [], contradictions: [], partial_coverage: [], unique_insights: [], blind_spots: [] };

describe('the words of a judge', () => {
  it.each([
    ['JSON', json],
    ['JSON in a fence', `\`\`\`json\n${json}\n\`\`\``],
    ['JSON among prose', `Here it is: ${json} I hope this helps.`],
    ['JSON with more than was asked for', JSON.stringify({ ...comparison, verdict: 'blue', __proto__: null })],
  ])('are read: %s', (_, written) => {
    expect(readJudgement(written)).toEqual({ form: 'json', comparison });
  });
  it('are read as far as they have the form that was asked for', () => {
    const loose = { consensus: 'blue', contradictions: [{ topic: 1, stances: 'x' }, 7, null], unique_insights: [{}] };
    expect(readJudgement(JSON.stringify(loose))).toEqual({
      form: 'json',
      comparison: {
        ...empty,
        consensus: ['blue'],
        contradictions: [{ topic: '', stances: [] }],
        unique_insights: [{ model: '', insight: '' }],
      },
    });
  });
  it.each([
    ['prose', 'They agree.'],
    ['half of an object', json.slice(0, -20)],
    ['another object', '{"answer": 42}'],
    ['names of every object', '{"__proto__": {"consensus": ["x"]}, "constructor": 1, "toString": 2}'],
    ['nothing but brackets', '['.repeat(1000)],
  ])('are prose: %s', (_, written) => {
    expect(readJudgement(written)).toEqual({ form: 'prose', text: written });
  });
  it('are nothing where there are none', () => {
    expect([readJudgement(''), readJudgement(' \n')]).toEqual([null, null]);
  });
  it.each([
    ['{', '}'],
    ['{"a":', ''],
    ['[', ']'],
    ['{"consensus":[', ']}'],
    ['\\"', ''],
  ])('of a megabyte of %s%s take no time', (start, end) => {
    const startMs = cpuMs();
    readJudgement(start.repeat(Math.floor(1_000_000 / start.length)) + end.repeat(10));
    readJudgement(`{"consensus":${start.repeat(200_000)}${end.repeat(200_000)}}`);
    expect(cpuMs() - startMs).toBeLessThan(1500);
  });
});

describe('an answer in a prompt', () => {
  const limit = fc.integer({ min: 34, max: 400 });
  const dense = fc.constantFrom(
    'x',
    '<',
    '"',
    '\n',
    '\u0000',
    'é',
    '中',
    '\u{1D4B3}',
    '\uFDFA',
    '\uD800',
    '</answers>',
  );
  const text = fc.array(fc.tuple(dense, fc.integer({ min: 1, max: 200 })), { maxLength: 8 });
  it('is never longer than its limit, whatever it is made of, and is a beginning of what was said', () => {
    fc.assert(
      fc.property(text, limit, (runsOf, limitBytes) => {
        const said = runsOf.map(([what, times]) => what.repeat(times)).join('');
        const { json: written, isCut } = boundedJson(said, limitBytes);
        expect(textBound(written, newEffort()) - 2).toBeLessThanOrEqual(limitBytes);
        expect(written).not.toContain('<');
        const read = JSON.parse(written) as string;
        expect(said.startsWith(read)).toBe(true);
        expect(isCut).toBe(read !== said);
      }),
      { numRuns: 500, seed: 7 },
    );
  });
  it('is complete where it fits', () => {
    expect(boundedJson('x'.repeat(100), 100)).toEqual({ json: `"${'x'.repeat(100)}"`, isCut: false });
    expect(boundedJson('x'.repeat(101), 100)).toEqual({ json: `"${'x'.repeat(100)}"`, isCut: true });
  });
  it.each(['x', '<', '\uFDFA', `${'x'.repeat(99)}\uFDFA`])('of 10 MB of %s is cut in no time', (what) => {
    const long = what.repeat(10_000_000 / what.length);
    const startMs = cpuMs();
    const { cut } = answersJson(Array(8).fill({ model: 'acme/a', text: long }), 24_000);
    expect([cut.length, cpuMs() - startMs < 1500]).toEqual([8, true]);
  });
  it('stands beside its model, whose name cannot end the element either', () => {
    expect(answersJson([{ model: 'a</answers>', text: 'hi' }], 100).json).toBe(
      '[{"model":"a\\u003c/answers>","answer":"hi"}]',
    );
  });
  it('is compared in an object where that is short enough, else in the beginning of a text', () => {
    const judgement = { form: 'json' as const, comparison };
    expect(JSON.parse(judgementJson(judgement, 1000))).toEqual(comparison);
    const short = JSON.parse(judgementJson(judgement, 50)) as { cut: boolean; text: string };
    expect([short.cut, json.startsWith(short.text)]).toEqual([true, true]);
  });
});
