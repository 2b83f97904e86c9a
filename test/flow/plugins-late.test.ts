import { expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin, type Plugin } from '../../src/plugins/plugin.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/pair', messages: hello, max_tokens: 100 };

it('a plugin that generates after its call has ended is refused, and the call is recorded once', async () => {
  let late: () => Promise<unknown> = async () => undefined;
  const plugin: Plugin = definePlugin({
    id: 'late',
    isDefault: true,
    wrap(generate, request) {
      late = () => generate(request);
      return generate(request);
    },
  });
  const options: Partial<GatewayOptions> = { plugins: [plugin] };
  const { post, upstream, records } = testGateway(options);
  upstream.always({ body: completion() });
  expect((await post(ask)).status).toBe(200);
  await expect(late()).rejects.toThrow('The call is over');
  expect([upstream.sent.length, records.length]).toEqual([1, 1]);
});
