import type { GatewayOptions } from '../../src/options.ts';
import { type TestGateway, testGateway, upstreamKeys } from './gateway.ts';
import { chunk, completion, type ScriptedAnswer, sse, usageChunk } from './upstream.ts';

/** What a generation of a fusion is for, as the upstream can tell by its prompt. */
export type Asked = 'analysis' | 'judge' | 'final';

interface Body {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string }[];
  [field: string]: unknown;
}

/** What a request to the upstream is for. */
export function purposeOf({ messages }: Pick<Body, 'messages'>): Asked {
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : ''));
  if (texts.some((text) => text.startsWith('Several models have each answered'))) return 'judge';
  return texts.some((text) => text.startsWith('Here is material')) ? 'final' : 'analysis';
}

/** The last message of the gateway's own, which has the material. */
export const promptOf = ({ messages }: Body): string =>
  messages.findLast(({ content }) => content.includes('<answers>'))?.content ?? '';

/** USD per token: a prompt token costs 1,000 nano-USD, one of the completion 8,000. */
const pricing = { prompt: '0.000001', completion: '0.000008' };
const model = (slug: string, provider: string) => ({
  slug,
  endpoints: [{ provider, model: slug.slice('acme/'.length), pricing }],
});

/** `acme/a` and `acme/c` at up, `acme/b` and `acme/d` at alt. */
export const fusionModels = [
  model('acme/a', 'up'),
  model('acme/b', 'alt'),
  model('acme/c', 'up'),
  model('acme/d', 'alt'),
];

export const comparison = {
  consensus: ['It is blue'],
  contradictions: [{ topic: 'why', stances: [{ model: 'acme/a', stance: 'Rayleigh' }] }],
  partial_coverage: [{ point: 'dusk', models: ['acme/b'] }],
  unique_insights: [{ model: 'acme/b', insight: 'violet' }],
  blind_spots: ['Mars'],
};

/** A response with these numbers of tokens. */
export const said = (content: string, prompt = 10, output = 2): ScriptedAnswer => ({
  body: completion(
    { usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output } },
    { content },
  ),
});

/** The same as a stream. */
export const streamed = (content: string, prompt = 10, output = 2): ScriptedAnswer => ({
  body: [
    chunk({ role: 'assistant', content: '' }),
    ...content.split(' ').map((word, at) => chunk({ content: at === 0 ? word : ` ${word}` })),
    chunk({}, 'stop'),
    usageChunk({ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }),
    '[DONE]',
  ].map((event) => sse(event)),
});

/** Answers by what is asked, and of which model. */
export type Script = (asked: Asked, model: string, body: Body) => ScriptedAnswer;

export const wellDone: Script = (asked, slug, body) => {
  if (asked === 'analysis') return said(`Answer of ${slug}`);
  if (asked === 'judge') return said(JSON.stringify(comparison), 100, 20);
  return body.stream ? streamed('The sky is blue', 200, 30) : said('The sky is blue', 200, 30);
};

/** Servers that take each message as it is: an upstream here tells by its messages what is asked. */
const quirks = { messageOrder: 'any' as const };
const providers = {
  up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up', quirks },
  alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, name: 'Alt', quirks },
};

/** A gateway whose upstream answers by the prompt. */
export function fusionGateway(script: Script = wellDone, options: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({
    providers,
    models: fusionModels,
    ...options,
    transport: {
      async send(request) {
        const body = JSON.parse(String(request.body)) as Body;
        tested.upstream.answer(script(purposeOf(body), body.model, body));
        return tested.upstream.transport.send(request);
      },
    },
  });
  return tested;
}

/** Bodies that the upstream got, by what they are for. */
export function sentFor({ upstream }: TestGateway, asked: Asked): Body[] {
  return upstream.sent.map(({ body }) => body as Body).filter((body) => purposeOf(body) === asked);
}
