import { describe, expect, it } from 'vitest';
import { askOfResponses } from '../../../../src/formats/responses/request/index.ts';
import {
  responsesContradictions,
  responsesIssues,
  responsesRequestSchema,
} from '../../../../src/schema/responses/responses.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

const many = 20_000;
const of = <T>(make: (at: number) => T, count = many): T[] => Array.from({ length: count }, (_, at) => make(at));
const ask = { role: 'user', content: 'a' };
const call = (at: number) => ({ type: 'function_call', call_id: `c${at}`, name: `f${at}`, arguments: '' });
const group = { type: 'namespace', name: 'n', tools: of((at) => ({ type: 'function', name: `t${at}` })) };

/** Everything that is done with a body before it is sent, ms. */
function costMs(body: object): number {
  const start = cpuMs();
  const request = responsesRequestSchema().parse(body);
  responsesIssues(request);
  responsesContradictions(request);
  askOfResponses(request);
  return cpuMs() - start;
}

describe('a body of very many small things', () => {
  it.each<[string, (count: number) => object]>([
    ['messages', (count) => ({ input: of(() => ask, count) })],
    ['calls', (count) => ({ input: of(call, count) })],
    [
      'outputs without calls',
      (count) => ({ input: of((at) => ({ type: 'function_call_output', call_id: `c${at}`, output: '' }), count) }),
    ],
    ['thoughts', (count) => ({ input: of(() => ({ type: 'reasoning', summary: [{ text: 'a' }] }), count) })],
    ['calls of the provider', (count) => ({ input: [...of(() => ({ type: 'web_search_call' }), count), ask] })],
    ['tools', (count) => ({ input: 'x', tools: of((at) => ({ type: 'function', name: `t${at}` }), count) })],
    [
      'tools whose names differ in what is left out',
      (count) => ({ input: 'x', tools: of((at) => ({ type: 'custom', name: `t.${at}` }), count) }),
    ],
    [
      'choices of one group',
      (count) => ({
        input: 'x',
        tools: [group],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: of(() => group, count) },
      }),
    ],
  ])('costs no more for each than one of few: %s', (_, bodyOf) => {
    costMs(bodyOf(100));
    // Ten times as many would cost a hundred times as much, were the time quadratic. The floor is for a busy machine.
    const few = Math.max(Math.min(costMs(bodyOf(many / 10)), costMs(bodyOf(many / 10))), 20);
    const all = Math.min(costMs(bodyOf(many)), costMs(bodyOf(many)));
    expect(all).toBeLessThan(few * 50);
  });
});
