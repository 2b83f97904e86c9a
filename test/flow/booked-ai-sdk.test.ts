import { APICallError } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { fromAiSdk } from '../../src/index.ts';
import { writtenModel } from '../support/ai-sdk-models.ts';
import { bookedPricing, ledgerOf, withBudget } from '../support/booked.ts';

const failed = (statusCode: number | undefined, cause?: Error) =>
  new APICallError({
    url: 'https://api.test/v1',
    requestBodyValues: {},
    message: 'It failed.',
    cause,
    ...(statusCode === undefined ? {} : { statusCode }),
  });

async function bookedFor(error: unknown): Promise<number> {
  const throwing = () => {
    throw error;
  };
  const { model } = writtenModel([], throwing);
  const tested = await withBudget(1, {
    providers: { up: fromAiSdk({ slug: 'up', model }) },
    models: [{ slug: 'acme/one', endpoints: [{ provider: 'up', model: 'm', pricing: bookedPricing }] }],
    retry: { maxAttempts: 1 },
  });
  await tested.post({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1_000 });
  return (await ledgerOf(tested)).spent;
}

it('pays its hold where an AI SDK model fails and nobody has refused', async () => {
  for (const error of [failed(200), failed(undefined), 'it broke', new Error('It broke.')])
    expect(await bookedFor(error)).toBeGreaterThan(8_000_000);
});

it('pays nothing where the provider of an AI SDK model has refused, or was not reached', async () => {
  const unreached = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  for (const error of [failed(400), failed(503), failed(undefined, unreached)]) expect(await bookedFor(error)).toBe(0);
});
