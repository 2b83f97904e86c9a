// Anthropic's own client library.
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { apiKey } from '../upstreams/gateway.mjs';
import { cities, forecast, greeting, prompt, thoughtAt, weatherIn } from '../upstreams/weather.mjs';

const messages = [{ role: 'user', content: 'Hi' }];
const properties = { city: { type: 'string' } };
const tools = [{ name: 'get_weather', input_schema: { type: 'object', properties, required: ['city'] } }];

/** @returns checks of one model */
export function sdkChecks({ root, upstream, dialect }) {
  const model = `acme/${dialect}`;
  const client = new Anthropic({ baseURL: root, apiKey, maxRetries: 0 });
  const asked = { model, max_tokens: 4_000, thinking: { type: 'adaptive' }, messages };
  const steps = (expected) => deepEqual([upstream.steps, upstream.problems], [expected, []]);
  return {
    async 'a message'() {
      const said = await client.messages.create(asked);
      const { input_tokens: fresh, cache_read_input_tokens: cached, output_tokens: made } = said.usage;
      deepEqual([said.stop_reason, said.content.at(-1).text], ['end_turn', greeting]);
      deepEqual([fresh, cached, made], [900, 100, 40]);
      steps(['greet']);
    },
    async 'a stream, by the helper of the library'() {
      const said = await client.messages.stream(asked).finalMessage();
      deepEqual(
        said.content.map((block) => [block.type, block.text ?? block.thinking]),
        [
          ['thinking', thoughtAt('greet')],
          ['text', greeting],
        ],
      );
      const { input_tokens: fresh, cache_read_input_tokens: cached, output_tokens: made } = said.usage;
      deepEqual([fresh, cached, made], [900, 100, 40]);
    },
    async 'two calls, their results and the answer, whole and streamed'() {
      for (const isStreamed of [false, true]) {
        const ask = (body) => (isStreamed ? client.messages.stream(body).finalMessage() : client.messages.create(body));
        const turns = [{ role: 'user', content: prompt }];
        const { content, stop_reason: reason } = await ask({ ...asked, tools, messages: turns });
        const calls = content.filter(({ type }) => type === 'tool_use');
        deepEqual([reason, calls.map(({ input }) => input.city)], ['tool_use', cities]);
        equal(content[0].type, 'thinking');
        turns.push({ role: 'assistant', content });
        const results = calls.map(({ id, input }) => {
          return { type: 'tool_result', tool_use_id: id, content: weatherIn(input.city) };
        });
        turns.push({ role: 'user', content: results });
        const said = await ask({ ...asked, tools, messages: turns });
        deepEqual([said.stop_reason, said.content.at(-1).text], ['end_turn', forecast]);
      }
      steps(['call', 'answer', 'call', 'answer']);
    },
    async 'an overloaded model is asked again'() {
      upstream.begin({ greet: 'overloaded' });
      equal((await client.messages.create(asked)).content.at(-1).text, greeting);
      upstream.begin({ greet: 'overloaded' });
      equal((await client.messages.stream(asked).finalMessage()).content.at(-1).text, greeting);
      steps(['greet: overloaded', 'greet']);
    },
    async 'a stream that breaks off is an error, and no block of it is closed'() {
      upstream.begin({ call: 'cut' });
      const stream = client.messages.stream({ ...asked, tools, messages: [{ role: 'user', content: prompt }] });
      const calls = [];
      stream.on('contentBlock', ({ type }) => type === 'tool_use' && calls.push(type));
      await rejects(stream.finalMessage(), Anthropic.APIError);
      deepEqual(calls, []);
    },
  };
}

/** @returns checks that need no more than one model */
export function serviceChecks({ root }) {
  const model = 'acme/chat';
  return Object.assign(
    {},
    ...['', '/v1'].map((path) => {
      const baseURL = `${root}${path}`;
      const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
      return {
        async [`a message at ${path || 'the root'}`]() {
          const { content, _request_id: id } = await client.beta.messages.create({
            model,
            max_tokens: 9_999,
            messages,
          });
          equal(content.at(-1).text, greeting);
          match(id, /^gen-/);
        },
        async [`a count of tokens at ${path || 'the root'}`]() {
          equal((await client.messages.countTokens({ model, messages })).input_tokens > 3, true);
        },
        async [`models, with their aliases, at ${path || 'the root'}`]() {
          const { data } = await client.models.list();
          deepEqual(
            data.slice(0, 3).map(({ id }) => id),
            ['acme/anthropic', 'claude-anthropic', 'gemini-anthropic'],
          );
          equal((await client.models.retrieve(model)).max_input_tokens, 200_000);
        },
        async [`an error in its own words at ${path || 'the root'}`]() {
          const asked = client.messages.create({ model: 'no/such', max_tokens: 1, messages });
          await rejects(asked, { status: 400, type: 'invalid_request_error', message: /no\/such/ });
          const stranger = new Anthropic({ baseURL, apiKey: 'sk-unknown', maxRetries: 0 });
          await rejects(stranger.messages.create({ model, max_tokens: 1, messages }), { status: 401 });
        },
      };
    }),
  );
}

/** @returns a check that goes from model to model with one conversation: none gets what another has signed */
export function wanderingCheck({ root, upstreams }) {
  return {
    async 'a conversation that changes the model after each answer'() {
      const client = new Anthropic({ baseURL: root, apiKey, maxRetries: 0 });
      const turns = [];
      for (const [dialect, upstream] of [...Object.entries(upstreams), ...Object.entries(upstreams)]) {
        upstream.begin();
        turns.push({ role: 'user', content: 'And now?' });
        const asked = { model: `acme/${dialect}`, max_tokens: 4_000, thinking: { type: 'adaptive' }, messages: turns };
        const { content } = await client.messages.stream(asked).finalMessage();
        equal(content.at(-1).text, greeting);
        turns.push({ role: 'assistant', content });
        deepEqual(upstream.problems, [], dialect);
      }
    },
  };
}
