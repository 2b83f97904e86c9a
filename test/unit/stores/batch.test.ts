import { expect, it } from 'vitest';
import { batched } from '../../../src/stores/batch.ts';
import { wasNotSent } from '../../../src/stores/storage/circuit.ts';
import { settle } from '../../support/manual-clock.ts';

function bench() {
  const sent: { steps: readonly string[]; resolve(results: string[]): void; reject(error: Error): void }[] = [];
  const ask = batched<string, string>({
    send: (_, steps) => new Promise((resolve, reject) => void sent.push({ steps, resolve, reject })),
    maxSteps: 10,
    idOf: (step) => step,
  });
  const outcome = (step: string) =>
    ask('key', step).then(
      (result) => result,
      (error: Error) => `${error.message}, ${wasNotSent(error) ? 'not sent' : 'sent'}`,
    );
  return { sent, outcome };
}

it('what waits when the server fails was not sent, and what was sent may have been done', async () => {
  const { sent, outcome } = bench();
  const outcomes = Promise.all([outcome('a'), settle().then(() => Promise.all(['b', 'c'].map(outcome)))]);
  await settle();
  await settle();
  sent[0]?.reject(new Error('connection lost'));
  expect(await outcomes).toEqual(['connection lost, sent', ['connection lost, not sent', 'connection lost, not sent']]);
  expect(sent).toHaveLength(1);
});

it('steps with one id go one after the other', async () => {
  const { sent, outcome } = bench();
  const outcomes = Promise.all(['a', 'b', 'b', 'c'].map(outcome));
  for (let turn = 0; turn < 2; turn++) {
    await settle();
    sent[turn]?.resolve(sent[turn]!.steps.map((step) => `${step} done`));
  }
  await settle();
  expect(sent.map(({ steps }) => steps)).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ]);
  expect(await outcomes).toEqual(['a done', 'b done', 'b done', 'c done']);
});

it('steps wait for others as long as each turn brings some, and for four turns at most', async () => {
  const { sent, outcome } = bench();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const outcomes = [outcome('a')];
  for (const step of ['b', 'c', 'd', 'e', 'f', 'g']) {
    outcomes.push(outcome(step));
    await turn();
  }
  expect(sent.map(({ steps }) => steps)).toEqual([['a', 'b', 'c', 'd', 'e']]);
  for (let call = 0; call < 2; call++) {
    sent[call]?.resolve(sent[call]!.steps.map((step) => `${step} done`));
    await settle();
  }
  expect(sent[1]?.steps).toEqual(['f', 'g']);
  expect(await Promise.all(outcomes)).toHaveLength(7);
});
