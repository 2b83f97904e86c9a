// Upstreams of several wire formats, all played by one mock server of another project over real HTTP.
import { LLMock } from '@copilotkit/aimock';
import { toolName, weatherIn } from './scenarios.mjs';
import { mockKey } from './service.mjs';

/** The structured answer of all of them. */
export const oslo = {
  name: 'Oslo',
  population: 717_710,
  climate: 'cold',
  landmarks: [{ name: 'Vigeland', year: 1947 }],
};
/** What is thought before the calls for two cities. */
export const thought = 'Two cities – so two calls.';
/** What each of them answers to `hello`. */
export const greeting = 'Good morning, “Łódź” 👋.';

/** What proves that a thought came back as its provider had sealed it, by dialect; none: thoughts are not sealed. */
const signature = 'c2lnbmVkLWJ5LWFpbW9jaw==';
export const dialects = {
  'openai-chat': { model: 'gpt-5', base: '/v1', quirks: { reasoningField: 'reasoning_content' }, sealed: thought },
  'anthropic-messages': { model: 'claude-sonnet-4-5', base: '/v1', sealed: signature },
  'google-generate-content': { model: 'gemini-2.5-pro', base: '/v1beta' },
  // "aimock-encrypted-reasoning:", as it begins.
  'openai-responses': { model: 'gpt-5', base: '/v1', sealed: 'YWltb2NrLWVuY3J5cHRlZC1yZWFzb25pbmc6' },
};

/**
 * @returns `providers` and `models` of a gateway, `acme/<dialect>` for each dialect; `sent`: the bodies that the server
 *   got, as text; `stop()`
 */
export async function startDialects() {
  // Strict: a call of Anthropic that comes back without the thought before it is refused.
  const mock = new LLMock({ port: 0, host: '127.0.0.1', strict: true, auth: { apiKeys: [mockKey] } });
  const sent = [];
  for (const path of ['/v1', '/v1beta']) mock.mount(path, { handleRequest: async (request) => watch(request, sent) });
  const calls = ['Oslo', 'Łódź'].map((city, at) => {
    return { id: `call_${at}`, name: toolName, arguments: JSON.stringify({ city }) };
  });
  mock.on({ userMessage: 'hello' }, { content: greeting }, { chunkSize: 3 });
  mock.on({ userMessage: 'think' }, { content: 'Forty-two.', reasoning: 'Six times seven.' }, { chunkSize: 5 });
  mock.on({ userMessage: 'the city' }, { content: JSON.stringify(oslo) }, { chunkSize: 5 });
  mock.on(
    { userMessage: 'two cities', hasToolResult: false },
    { content: 'Let me see. ', toolCalls: calls, reasoning: thought, reasoningSignature: signature },
    { chunkSize: 3 },
  );
  mock.on({ userMessage: 'two cities', hasToolResult: true }, quoteResults, { chunkSize: 3 });
  mock.on(
    { userMessage: 'ask another', toolName: 'transfer_to_Second' },
    { toolCalls: [{ id: 'call_handoff', name: 'transfer_to_Second', arguments: '{}' }] },
  );
  mock.on({ userMessage: 'ask another' }, { content: 'I am the second.' }, { chunkSize: 5 });
  // Without the latency it cuts before anything has been sent.
  const cut = { chunkSize: 4, truncateAfterChunks: 8, latency: 5 };
  mock.on(
    { userMessage: 'break off' },
    { content: 'This sentence has no end, as nobody ever tells it to the end.' },
    cut,
  );
  await mock.start();
  const entries = Object.entries(dialects);
  return {
    sent,
    providers: Object.fromEntries(
      entries.map(([dialect, { base, quirks = {} }]) => {
        return [`mock-${dialect}`, { baseUrl: mock.url + base, dialect, apiKey: mockKey, quirks }];
      }),
    ),
    models: entries.map(([dialect, { model }]) => {
      return { slug: `acme/${dialect}`, endpoints: [{ provider: `mock-${dialect}`, model, pricing }] };
    }),
    stop: () => mock.stop(),
  };
}

/** USD per token. */
const pricing = { prompt: '0.000002', completion: '0.000008' };

function quoteResults({ messages }) {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  // A provider may have wrapped the text in JSON.
  const texts = results.map((content) => (typeof content === 'string' ? content : JSON.stringify(content)));
  return {
    content: ['Oslo', 'Łódź']
      .map(weatherIn)
      .filter((text) => texts.some((one) => one.includes(text)))
      .join('; '),
  };
}

/** Sees the body of a request without reading it: a listener would start it before the mock server listens. */
function watch(request, sent) {
  const pieces = [];
  const emit = request.emit.bind(request);
  request.emit = (name, ...values) => {
    if (name === 'data') pieces.push(values[0]);
    if (name === 'end') sent.push(Buffer.concat(pieces).toString());
    return emit(name, ...values);
  };
  return false;
}
