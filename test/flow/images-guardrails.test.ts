import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { b64, ofOpenAi } from '../support/images/wire.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const secret = '555-0100';
const picture = `data:image/png;base64,${b64}`;

function gateway(guardrails: unknown) {
  return testGateway({
    providers: { openai: { apiKey: upstreamKeys.up } },
    models: [
      {
        slug: 'a/images',
        outputModalities: ['image'],
        endpoints: [{ provider: 'openai', model: 'gpt-image-2', pricing: { prompt: '0', imageOutput: '0.00001' } }],
      },
    ],
    guardrails,
    retry: { attemptsPerEndpoint: 1 },
  } as unknown as Partial<GatewayOptions>);
}

const ofNumbers = (action: 'redact' | 'block') => [
  textGuardrail({ id: 'numbers', patterns: [{ literal: secret, name: 'number', action }] }),
];
const revised = () => {
  const { data, ...rest } = ofOpenAi(2);
  return { ...rest, data: data.map((one, at) => ({ ...one, revised_prompt: `Call ${secret}, image ${at}` })) };
};

describe('guardrails and images', () => {
  it('read the prompts that a model has revised', async () => {
    const redacting = gateway(ofNumbers('redact'));
    redacting.upstream.always({ body: revised() });
    const body = { model: 'a/images', prompt: 'A phone', n: 2 };
    const { status, json, text } = await redacting.call('POST', '/images/generations', body, asCaller);
    expect([status, text.includes(secret)]).toEqual([200, false]);
    expect(json.data.map((one: { revised_prompt: string }) => one.revised_prompt.endsWith('image 1'))).toEqual([
      false,
      true,
    ]);
    const blocking = gateway(ofNumbers('block'));
    blocking.upstream.always({ body: revised() });
    const blocked = await blocking.call('POST', '/images/generations', body, asCaller);
    expect([blocked.status, blocked.text.includes(secret)]).toEqual([403, false]);
    // The images were made.
    expect(blocking.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });

  it('see every picture, the mask too, and none is sent that they have taken out or changed', async () => {
    const seen: string[] = [];
    type Part = { type: string; image_url?: { url: string } };
    const changing = (change: (parts: Part[]) => Part[]) => [
      {
        id: 'pictures',
        before(given: { messages: { content: Part[] }[] }) {
          const [message] = given.messages;
          for (const { image_url: one } of message?.content ?? []) if (one) seen.push(one.url);
          return { ...given, messages: [{ ...message, content: change(message?.content ?? []) }] };
        },
      },
    ];
    const body = {
      model: 'a/images',
      prompt: 'A phone',
      images: [{ image_url: 'https://pictures.example/a.png' }],
      mask: { image_url: picture },
    };
    const same = gateway(changing((parts) => [...parts]));
    same.upstream.always({ body: ofOpenAi() });
    expect((await same.call('POST', '/images/edits', body, asCaller)).status).toBe(200);
    expect(seen).toEqual(['https://pictures.example/a.png', picture]);
    for (const change of [
      (parts: Part[]) => parts.filter(({ type }) => type === 'text'),
      (parts: Part[]) =>
        parts.map((one) => (one.image_url ? { ...one, image_url: { url: 'https://other.example' } } : one)),
    ]) {
      const t = gateway(changing(change));
      t.upstream.always({ body: ofOpenAi() });
      const { status } = await t.call('POST', '/images/edits', body, asCaller);
      expect([status >= 400, t.upstream.sent]).toEqual([true, []]);
    }
  });
});
