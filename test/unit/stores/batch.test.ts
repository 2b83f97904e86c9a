import { expect, it } from 'vitest';
import { batched } from '../../../src/stores/batch.ts';
import { wasNotSent } from '../../../src/stores/storage/circuit.ts';
import { settle, turns } from '../../support/manual-clock.ts';

function bench(maxSteps = 10) {
  const sent: { steps: readonly string[]; resolve(results: string[]): void; reject(error: Error): void }[] = [];
  const ask = batched<string, string>({
    send: (_, steps) => new Promise((resolve, reject) => void sent.push({ steps, resolve, reject })),
    maxSteps,
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
  for (let call = 0; call < 2; call++) {
    await turns(8);
    sent[call]?.resolve(sent[call]!.steps.map((step) => `${step} done`));
  }
  await settle();
  expect(sent.map(({ steps }) => steps)).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ]);
  expect(await outcomes).toEqual(['a done', 'b done', 'b done', 'c done']);
});

it('one or two steps wait for a turn that brings no others', async () => {
  const { sent, outcome } = bench();
  const outcomes = [outcome('a')];
  await turns(1);
  expect(sent).toHaveLength(1);
  outcomes.push(outcome('b'), outcome('c'));
  sent[0]?.resolve(['a done']);
  await turns(2);
  expect(sent[1]?.steps).toEqual(['b', 'c']);
  sent[1]?.resolve(['b done', 'c done']);
  expect(await Promise.all(outcomes)).toEqual(['a done', 'b done', 'c done']);
});

it('three steps and more wait for seven turns in a row that bring no others', async () => {
  const { sent, outcome } = bench();
  const outcomes = ['a', 'b', 'c'].map(outcome);
  await turns(3);
  outcomes.push(outcome('d'));
  await turns(7);
  expect(sent).toHaveLength(0);
  await turns(1);
  expect(sent[0]?.steps).toEqual(['a', 'b', 'c', 'd']);
  sent[0]?.resolve(sent[0].steps.map((step) => `${step} done`));
  expect(await Promise.all(outcomes)).toHaveLength(4);
});

it('steps wait for thirty-two turns at most, and until there are as many as go together', async () => {
  const { sent, outcome } = bench(36);
  const outcomes = [outcome('0')];
  for (let step = 1; step < 34; step++) {
    outcomes.push(outcome(String(step)));
    await turns(1);
  }
  expect(sent.map(({ steps }) => steps.length)).toEqual([33]);
  for (let step = 34; step < 72; step++) outcomes.push(outcome(String(step)));
  for (const [call, count] of [33, 36, 3].entries()) {
    await turns(8);
    expect(sent[call]?.steps).toHaveLength(count);
    sent[call]?.resolve(sent[call]!.steps.map((step) => `${step} done`));
  }
  expect(await Promise.all(outcomes)).toHaveLength(72);
});
