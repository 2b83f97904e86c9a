import { deepEqual, equal, match, ok } from 'node:assert/strict';
import OpenAI, { APIUserAbortError } from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { checkLeaving, checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { dialects, greeting, oslo } from './dialects.mjs';
import { bothCities, City, longAnswer, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';
import { startService } from './service.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** Keys of every response, whatever it says; the client's types demand them. */
const responseKeys = ['completed_at', 'created_at', 'error', 'frequency_penalty', 'id', 'incomplete_details']
  .concat(['instructions', 'metadata', 'model', 'object', 'output', 'parallel_tool_calls', 'presence_penalty'])
  .concat(['status', 'temperature', 'tool_choice', 'tools', 'top_p']);

/** Both ways to ask: the complete response, and what the client's strict accumulator makes of a stream. */
export const waysToAsk = (client) => ({
  whole: (body) => client.responses.create(body, { maxRetries: 0 }),
  streamed: (body) => client.responses.stream(body, { maxRetries: 0 }).finalResponse(),
});

/** @returns the checks of `openai`, asked by `responses`, over an upstream of one wire format */
export function openaiResponsesOver(dialect, { service, client, sent, model = `acme/${dialect}` }) {
  const ways = Object.values(waysToAsk(client));
  const tools = [zodResponsesFunction({ name: toolName, description: toolDescription, parameters: ToolInput })];
  const thinking = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'], store: false };

  return {
    async 'text, status, usage and every key'() {
      for (const ask of ways) {
        const response = await ask({ model, input: 'hello' });
        equal(response.output_text, greeting);
        deepEqual([response.object, response.status, response.model], ['response', 'completed', model]);
        deepEqual(
          responseKeys.filter((key) => !(key in response)),
          [],
        );
        await checkUsage(service, usageOf(response.usage));
      }
    },
    async 'stream: the deltas add up to the final response, event by event'() {
      const stream = client.responses.stream({ model, input: 'hello' });
      const events = await Array.fromAsync(stream);
      deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_, at) => at),
      );
      deepEqual([events[0].type, events.at(-1).type], ['response.created', 'response.completed']);
      const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
      deepEqual([deltas.join(''), deltas.length > 3], [greeting, true]);
      const { output } = events.at(-1).response;
      const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
      deepEqual(done, output);
      equal((await stream.finalResponse()).output_text, greeting);
    },
    async 'reasoning: an item of its own before the message'() {
      for (const ask of ways) {
        const { output } = await ask({ model, input: 'think', ...thinking });
        deepEqual(
          output.map(({ type }) => type),
          ['reasoning', 'message'],
        );
        const [{ summary, content }, message] = output;
        equal([...(summary ?? []), ...(content ?? [])].map(({ text }) => text).join(''), 'Six times seven.');
        equal(message.content[0].text, 'Forty-two.');
      }
    },
    async 'tools: a loop over text and two calls, with the thoughts sent back'() {
      for (const ask of ways) {
        sent.length = 0;
        const input = [{ role: 'user', content: 'two cities' }];
        const first = await ask({ model, input, tools, ...thinking });
        const calls = first.output.filter(({ type }) => type === 'function_call');
        deepEqual(
          calls.map(({ name, arguments: text }) => [name, JSON.parse(text).city]),
          [
            [toolName, 'Oslo'],
            [toolName, 'Łódź'],
          ],
        );
        equal(new Set(calls.map(({ call_id: id }) => id)).size, 2);
        equal(new Set(first.output.map(({ id }) => id)).size, first.output.length);
        const outputs = calls.map(({ call_id: id, arguments: text }) => {
          return { type: 'function_call_output', call_id: id, output: weatherIn(JSON.parse(text).city) };
        });
        const second = await ask({ model, input: [...input, ...first.output, ...outputs], tools, ...thinking });
        equal(second.output_text, bothCities);
        const { sealed } = dialects[dialect];
        if (sealed !== undefined)
          deepEqual(
            sent.map((text) => text.includes(sealed)),
            [false, true],
          );
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      const body = { model, input: 'the city', text: { format: zodTextFormat(City, 'city') } };
      deepEqual((await client.responses.parse(body)).output_parsed, oslo);
      deepEqual((await client.responses.stream(body).finalResponse()).output_parsed, oslo);
    },
    async 'a stream that breaks off ends as a failed response'() {
      const stream = await client.responses.create({ model, input: 'break off', stream: true }, { maxRetries: 0 });
      const events = await Array.fromAsync(stream);
      equal(events.at(-1).type, 'response.failed');
      const { status, error } = events.at(-1).response;
      deepEqual([status, error.code], ['failed', 'server_error']);
      const { outcome } = await service.nextRecord();
      equal(outcome, 'cut');
    },
  };
}

/** @returns the checks of `openai`, asked by `responses`, that need no upstream of a wire format */
export function openaiResponsesChecks(service, client) {
  const ways = Object.values(waysToAsk(client));
  const ask = (body, options) =>
    client.responses.create({ input: 'Good morning', ...body }, { maxRetries: 0, ...options });

  return {
    async 'the id of the record is in the response and its headers'() {
      const { data, response } = await ask({ model: 'sandbox/echo' }).withResponse();
      const { id } = await service.nextRecord();
      deepEqual([data.id, response.headers.get('x-generation-id')], [id, id]);
    },
    async 'instructions and items of all roles'() {
      for (const answer of ways) {
        const input = [
          { role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
          { role: 'user', content: 'One' },
          { role: 'assistant', content: 'Two' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Three' }] },
        ];
        const { output_text: text } = await answer({ model: 'sandbox/echo', instructions: 'Be brief.', input });
        equal(text, 'Three');
        const { body } = await service.nextSent();
        deepEqual(
          body.messages.map(({ role }) => role),
          ['system', 'user', 'assistant', 'user'],
        );
        // Servers of which nothing is known get one message with all instructions.
        match(JSON.stringify(body.messages[0].content), /Be brief\..*Be kind\./);
      }
    },
    async 'an answer that was cut short, and one that was filtered, are incomplete'() {
      for (const [model, reason, fields] of [
        ['sandbox/lorem', 'max_output_tokens', { max_output_tokens: 3 }],
        ['sandbox/content-filter', 'content_filter', {}],
      ]) {
        for (const answer of ways) {
          const { status, incomplete_details: details } = await answer({ model, input: 'Good morning', ...fields });
          deepEqual([status, details], ['incomplete', { reason }]);
        }
      }
    },
    async 'kept responses: gone on from, read, listed and deleted'() {
      const keeping = await startService({ options: { records: { enabled: true } } });
      try {
        await keeping.gateway.workspaces.update({ id: 'default', is_observability_io_logging_enabled: true });
        const { responses } = new OpenAI({ apiKey: keeping.apiKey, baseURL: keeping.baseURL, maxRetries: 0 });
        const model = 'sandbox/echo';
        const one = await responses.create({ model, input: 'One', store: true });
        deepEqual([one.store, one.output_text], [true, 'One']);
        const after = { model, input: 'Two', store: true, previous_response_id: one.id };
        const two = await responses.create(after);
        const streamed = await responses.stream(after).finalResponse();
        for (const { id, store, previous_response_id: previous } of [two, streamed]) {
          deepEqual([store, previous], [true, one.id]);
          equal((await responses.retrieve(id)).output_text, 'Two');
          const items = [];
          for await (const item of responses.inputItems.list(id, { order: 'asc', limit: 2 })) items.push(item);
          deepEqual(
            items.map(({ content: [{ text }] }) => text),
            ['One', 'One', 'Two'],
          );
        }
        await responses.delete(one.id);
        const gone = await errorOf(responses.retrieve(one.id));
        deepEqual([gone.constructor, gone.status], [OpenAI.NotFoundError, 404]);
        const { conversations } = new OpenAI({ apiKey: keeping.apiKey, baseURL: keeping.baseURL, maxRetries: 0 });
        const conversation = await conversations.create({ metadata: { topic: 'parcels' } });
        const turn = { model, input: 'Turn', conversation: conversation.id };
        deepEqual((await responses.create(turn)).conversation, { id: conversation.id });
        deepEqual((await responses.stream(turn).finalResponse()).conversation, { id: conversation.id });
        const said = [];
        for await (const item of conversations.items.list(conversation.id, { limit: 3 }))
          said.push(item.content[0].text);
        deepEqual(said, ['Turn', 'Turn', 'Turn', 'Turn']);
        await conversations.delete(conversation.id);
        equal((await errorOf(responses.create(turn))).constructor, OpenAI.NotFoundError);
        const lost = await errorOf(responses.create(after));
        deepEqual([lost.constructor, lost.status], [OpenAI.BadRequestError, 400]);
        match(lost.message, /^400 Previous response with id 'gen-.*' not found/);
      } finally {
        await keeping.close();
      }
    },
    async 'a refusal is a part of its own'() {
      for (const answer of ways) {
        const { output, output_text: text } = await answer({ model: 'sandbox/refusal', input: 'Good morning' });
        const [part] = output.find(({ type }) => type === 'message').content;
        deepEqual([part.type, text], ['refusal', '']);
        match(part.refusal, /sandbox/);
      }
    },
    async 'errors: each the client’s own class, with a message'() {
      const wrongKey = client.withOptions({ apiKey: 'sk-wrong-0123456789' });
      const unauthorized = await errorOf(wrongKey.responses.create({ model: 'sandbox/echo', input: 'Hi' }));
      deepEqual([unauthorized.constructor, unauthorized.status], [OpenAI.AuthenticationError, 401]);
      const stray = [{ type: 'function_call_output', call_id: 'call_stray', output: '1' }];
      for (const [body, Class, status, message] of [
        [{ model: 'sandbox/echo', temperature: 9 }, OpenAI.BadRequestError, 400, /temperature/],
        [{ model: 'sandbox/echo', store: true }, OpenAI.BadRequestError, 400, /stateless/],
        [{ model: 'sandbox/echo', previous_response_id: 'resp_1' }, OpenAI.BadRequestError, 400, /stateless/],
        [
          { model: 'sandbox/echo', tools: [{ type: 'code_interpreter' }] },
          OpenAI.BadRequestError,
          400,
          /code_interpreter/,
        ],
        [
          { model: 'sandbox/echo', input: stray },
          OpenAI.UnprocessableEntityError,
          422,
          /call_id: is the id of no call/,
        ],
        [{ model: 'acme/nothing' }, OpenAI.BadRequestError, 400, /acme\/nothing/],
        [{ model: 'sandbox/rate-limited' }, OpenAI.RateLimitError, 429, /./],
        [{ model: 'sandbox/error-500' }, OpenAI.InternalServerError, 502, /./],
        [{ model: 'sandbox/overloaded' }, OpenAI.InternalServerError, 529, /./],
      ]) {
        for (const stream of [false, true]) {
          const error = await errorOf(ask({ ...body, stream }));
          deepEqual([error.constructor, error.status], [Class, status], JSON.stringify([body, error.message]));
          match(error.message, message);
          equal(error.error.code, status);
        }
      }
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      const own = client.withOptions({ apiKey: tenant.apiKey }).responses;
      const body = { model: 'sandbox/echo', input: 'Good morning' };
      equal((await own.create(body)).output_text, 'Good morning');
      await tenant.spend();
      for (const stream of [false, true]) {
        service.begin();
        const error = await errorOf(own.create({ ...body, stream }));
        equal(error.status, 402);
        checkRefusal(error.error);
        await checkAskedOnce(service);
      }
    },
    async 'abort in the middle of a stream, and before the answer has begun'() {
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const stream = await ask(
          { model: 'sandbox/lorem', stream: true, sandbox: longAnswer },
          { signal: stop.signal },
        );
        for await (const { type } of stream) if (type === 'response.output_text.delta') break;
        return () => stop.abort();
      });
      const stop = new AbortController();
      service.begin();
      const asked = errorOf(ask({ model: 'sandbox/timeout' }, { signal: stop.signal }));
      const { stopped } = await service.nextSent();
      stop.abort();
      ok((await asked) instanceof APIUserAbortError);
      await stopped;
      equal((await service.nextRecord()).outcome, 'cancelled');
    },
    async 'fallback and routing metadata, as for chat'() {
      const body = { model: 'sandbox/error-500', models: ['sandbox/overloaded', 'sandbox/echo'] };
      for (const stream of [false, true]) {
        const headers = { 'X-Service-Metadata': 'enabled' };
        const answer = await ask({ ...body, stream }, { headers });
        const response = stream ? (await Array.fromAsync(answer)).at(-1).response : answer;
        deepEqual([response.model, response.service_metadata.attempt], ['sandbox/echo', 3]);
        equal((await service.nextRecord()).attempts.length, 3);
      }
    },
  };
}

function usageOf({ input_tokens: input, output_tokens: output, total_tokens: total }) {
  return { input, output, total };
}
