import assert from 'node:assert/strict';
import { createGateway } from 'model-gateway';
import { sandboxScript } from 'model-gateway/testing';
import OpenAI from 'openai';
import { options, support } from './app.mjs';

function setUp(answers) {
  const script = sandboxScript(answers, { name: 'support' });
  const gateway = createGateway({ ...options, retry: { baseDelayMs: 0 }, sandbox: { script, allProviders: true } });
  const client = new OpenAI({
    apiKey: 'sk-of-the-app',
    baseURL: 'http://in-process/v1',
    maxRetries: 0,
    fetch: gateway.fetch,
  });
  return { script, client };
}
const asks = { toolCalls: [{ name: 'look_up', arguments: { order: 7 } }] };

/** The same for every runner. */
export const cases = {
  async 'looks up an order'() {
    const { script, client } = setUp([asks, ({ messages }) => `It is ${messages.at(-1).content}`]);
    const answer = await support(client, 'Where is order 7?', async ({ order }) => ({ order, state: 'on its way' }));
    assert.equal(answer, 'It is {"order":7,"state":"on its way"}');
    assert.deepEqual(script.requests[0].tools, ['look_up']);
    script.assertDone();
  },
  async 'survives a provider that is overloaded once'() {
    const { script, client } = setUp([{ error: { status: 529 } }, 'Hello']);
    assert.equal(await support(client, 'Hi'), 'Hello');
    script.assertDone();
  },
  async 'gives up after three steps'() {
    const { client } = setUp([{ ...asks, times: 'always' }]);
    await assert.rejects(
      support(client, 'Hi', async () => ({})),
      /too many steps/,
    );
  },
  async 'asks more often than the test says'() {
    const { script, client } = setUp([asks]);
    await assert.rejects(
      support(client, 'Hi', async () => ({})),
      /script "support" is used up/,
    );
    assert.throws(() => script.assertDone(), /1 request got no answer/);
  },
};
