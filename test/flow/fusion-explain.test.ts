import { expect, it } from 'vitest';
import { fusion } from '../../src/plugins/fusion/index.ts';
import { type Explanation, explanationSchema } from '../../src/schema/chat/explanation.ts';
import { fusionGateway, said, sentFor, wellDone } from '../support/fusion.ts';
import { hello, type TestGateway } from '../support/gateway.ts';

const panel = ['acme/a', 'acme/b', 'acme/c'];
const ask = { messages: hello, max_tokens: 100, plugins: [{ id: 'fusion', analysis_models: panel, model: 'acme/d' }] };

async function explained({ call }: TestGateway, body: object, path = '/chat/completions/explain') {
  const { status, json } = await call('POST', path, body);
  if (status !== 200) return { status, message: json.error.message as string };
  return { status, told: explanationSchema().parse(json.data) as Explanation };
}

it('an explanation lists the generations of a fusion, and what they can cost together', async () => {
  const tested = fusionGateway();
  const { told } = await explained(tested, ask);
  expect(
    told?.generations?.map(({ purpose, requested, model, provider }) => [purpose, requested, model, provider]),
  ).toEqual([
    ['analysis', 'acme/a', 'acme/a', 'up'],
    ['analysis', 'acme/b', 'acme/b', 'alt'],
    ['analysis', 'acme/c', 'acme/c', 'up'],
    ['judge', 'acme/d', 'acme/d', 'alt'],
    ['final', 'acme/d', 'acme/d', 'alt'],
  ]);
  const ceilings = told?.generations?.map(({ ceiling_usd }) => ceiling_usd as number) ?? [];
  expect(told?.ceiling_usd).toBeCloseTo(
    ceilings.reduce((sum, one) => sum + one, 0),
    9,
  );
  expect([told?.candidates[0]?.model, told?.hold_usd, told?.error]).toEqual(['acme/d', null, null]);
  expect(told?.generations?.map(({ max_completion_tokens }) => max_completion_tokens)).toEqual([
    100, 100, 100, 4000, 100,
  ]);
  expect(tested.upstream.sent).toHaveLength(0);
});

it('an explanation of a request that names no plugin has no generations', async () => {
  const { told } = await explained(fusionGateway(), { model: 'acme/a', messages: hello });
  expect(told).not.toHaveProperty('generations');
  expect(told).not.toHaveProperty('ceiling_usd');
});

it('an explanation of a Responses request lists them too', async () => {
  const { plugins } = ask;
  const { told } = await explained(fusionGateway(), { input: 'Hello', plugins }, '/responses/explain');
  expect(told?.generations).toHaveLength(5);
});

it('no fusion holds more than was explained, however long and dense the answers of the models are', async () => {
  const texts = ['x'.repeat(50_000), '<'.repeat(50_000), '\uFDFA'.repeat(50_000), '\u0001é𝒳"'.repeat(10_000), 'short'];
  for (const text of texts) {
    const tested = fusionGateway(
      (asked, model, body) =>
        asked === 'final' ? wellDone(asked, model, body) : said(asked === 'judge' ? `{"consensus":["${text}"]}` : text),
      { plugins: [fusion({ answerBytes: 2000 })] },
    );
    await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 10 });
    const { told } = await explained(tested, ask);
    const { status } = await tested.post(ask);
    expect(status).toBe(200);
    const [record] = tested.records;
    const held = record?.generations.map(({ heldNanoUsd }) => Math.round(heldNanoUsd)) ?? [];
    const foreseen = told?.generations?.map(({ hold_usd }) => Math.round((hold_usd as number) * 1e9)) ?? [];
    expect(held).toHaveLength(5);
    for (const [at, nanoUsd] of held.entries()) expect(nanoUsd).toBeLessThanOrEqual(foreseen[at] as number);
    expect(told?.hold_usd).toBeCloseTo(foreseen.reduce((sum, one) => sum + one, 0) / 1e9, 9);
    expect(sentFor(tested, 'final')).toHaveLength(1);
  }
});

it('an explanation shows what the budget has no money for', async () => {
  const tested = fusionGateway();
  await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 0.01 });
  const { told } = await explained(tested, ask);
  // The judge and the writer read up to three answers of 24,000 tokens.
  expect(told?.generations?.map(({ error }) => error?.code ?? null)).toEqual([null, null, null, 402, 402]);
  expect(told?.error?.code).toBe(402);
});

it('an explanation refuses what the request would be refused for', async () => {
  const unknown = { ...ask, plugins: [{ id: 'fusion', analysis_models: ['acme/x'] }] };
  expect(await explained(fusionGateway(), unknown)).toEqual({
    status: 400,
    message: expect.stringMatching(/^plugins\[0\]\.analysis_models\[0\]: "acme\/x" is not a model/),
  });
  const { told } = await explained(fusionGateway(), { ...ask, provider: { only: ['openai'] } });
  expect([told?.error?.code, told?.candidates]).toEqual([404, []]);
});
