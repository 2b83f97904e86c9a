import { deepEqual, equal, match, ok } from 'node:assert/strict';
import OpenAI, { APIError, APIUserAbortError } from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { checkCut, checkLeaving, checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { bothCities, City, longAnswer, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** @returns the checks of the client `openai` */
export function openaiChecks(service, client) {
  const messages = [{ role: 'user', content: 'Good morning' }];
  const { completions } = client.chat;
  const ask = (body, options) => completions.create({ messages, ...body }, { maxRetries: 0, ...options });

  /** The text of a stream, and what it threw. */
  async function readAll(stream) {
    const chunks = [];
    try {
      for await (const chunk of stream) chunks.push(chunk);
      return { chunks, text: textOf(chunks), error: null };
    } catch (error) {
      return { chunks, text: textOf(chunks), error };
    }
  }

  const tools = (seen) => [
    zodFunction({
      name: toolName,
      description: toolDescription,
      parameters: ToolInput,
      function: ({ city }) => {
        seen.push(city);
        return weatherIn(city);
      },
    }),
  ];

  return {
    async 'chat: text, finish reason, usage and cost'() {
      const answer = await ask({ model: 'sandbox/echo' });
      equal(answer.choices[0].message.content, 'Good morning');
      equal(answer.choices[0].finish_reason, 'stop');
      deepEqual([answer.model, answer.provider], ['sandbox/echo', 'Sandbox']);
      ok(answer.usage.cost > 0);
      await checkUsage(service, usageOf(answer));
    },
    async 'chat: the id of the record is in the answer and its headers'() {
      const { data, response } = await ask({ model: 'sandbox/echo' }).withResponse();
      const { id } = await service.nextRecord();
      deepEqual([data.id, response.headers.get('x-generation-id')], [id, id]);
    },
    async 'models: the list, page by page, and one of them'() {
      const slugs = [];
      for await (const model of client.models.list()) slugs.push(model.id);
      ok(slugs.includes('sandbox/echo'));
      equal((await client.get('/model/sandbox/echo')).data.id, 'sandbox/echo');
    },
    async 'routing: preferences, suffixes and routers as further fields'() {
      const provider = { only: ['sandbox'], sort: { by: 'price', partition: 'none' }, max_price: { prompt: 1 } };
      const answer = await ask({ models: ['sandbox/echo:floor', 'sandbox/lorem'], provider, session_id: 'one' });
      equal(answer.model, 'sandbox/echo');
      match((await ask({ model: 'service/auto', provider: { only: ['sandbox'] } })).model, /^sandbox\//);
      const refused = await errorOf(ask({ model: 'sandbox/echo', provider: { only: ['nobody'] } }));
      equal(refused.status, 404);
      deepEqual(refused.error.metadata.excluded, [{ model: 'sandbox/echo', provider: 'sandbox', filter: 'only' }]);
    },
    async 'explain: what would be tried, without asking anybody'() {
      const body = { model: 'sandbox/echo', messages };
      const { data } = await client.post('/chat/completions/explain', { body });
      deepEqual(
        data.candidates.map(({ model, provider }) => [model, provider]),
        [['sandbox/echo', 'sandbox']],
      );
      equal(service.recordsLeft(), 0);
    },
    async 'stream: text, one finish reason, usage without asking'() {
      const { chunks, text, error } = await readAll(await ask({ model: 'sandbox/lorem', stream: true }));
      equal(error, null);
      match(text, /^This is the sandbox/);
      const reasons = chunks.map(({ choices }) => choices[0]?.finish_reason ?? null);
      deepEqual(
        reasons.filter((reason) => reason !== null),
        ['stop'],
      );
      deepEqual(chunks.at(-1).choices, []);
      await checkUsage(service, usageOf(chunks.at(-1)));
    },
    async 'stream helper: gathers the same answer as a whole request'() {
      const whole = await ask({ model: 'sandbox/lorem', n: 2 });
      const stream = completions.stream({ model: 'sandbox/lorem', n: 2, messages }, { maxRetries: 0 });
      const gathered = await stream.finalChatCompletion();
      const shown = ({ choices }) => choices.map(({ message, finish_reason }) => [message.content, finish_reason]);
      deepEqual(shown(gathered), shown(whole));
      deepEqual(gathered.usage, whole.usage);
    },
    async 'tools: the loop ends with a text that quotes the result'() {
      for (const stream of [false, true]) {
        const seen = [];
        const runner = completions.runTools({ model: 'sandbox/tool-call', messages, tools: tools(seen), stream });
        match(await runner.finalContent(), new RegExp(weatherIn(seen[0])));
        equal(seen.length, 1);
        const { usage } = await runner.finalChatCompletion();
        ok(usage.total_tokens > 0);
      }
    },
    async 'tools: text and two calls in one answer, over a real HTTP upstream'() {
      for (const stream of [false, true]) {
        const seen = [];
        const runner = completions.runTools({
          model: 'acme/fast',
          messages: [{ role: 'user', content: 'two cities' }],
          tools: tools(seen),
          stream,
        });
        equal(await runner.finalContent(), bothCities);
        deepEqual(seen, ['Oslo', 'Łódź']);
        equal(runner.messages[1].content, 'Let me see. ');
        await service.nextRecord();
        equal((await service.nextRecord()).costNanoUsd, 50 * 2000 + 12 * 8000);
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      const body = { model: 'sandbox/json', messages, response_format: zodResponseFormat(City, 'city') };
      const whole = await completions.parse(body);
      City.parse(whole.choices[0].message.parsed);
      const streamed = await completions.stream(body).finalChatCompletion();
      deepEqual(streamed.choices[0].message.parsed, whole.choices[0].message.parsed);
    },
    async 'structured output: a refusal and a cut-off answer are the client’s own'() {
      const body = { messages, response_format: zodResponseFormat(City, 'city') };
      const refused = await completions.parse({ ...body, model: 'sandbox/refusal' });
      equal(refused.choices[0].message.parsed, null);
      match(refused.choices[0].message.refusal, /sandbox/);
      const short = await errorOf(completions.parse({ ...body, model: 'sandbox/json', max_tokens: 3 }));
      equal(short.constructor.name, 'LengthFinishReasonError');
      const filtered = await errorOf(completions.parse({ ...body, model: 'sandbox/content-filter' }));
      equal(filtered.constructor.name, 'ContentFilterFinishReasonError');
    },
    async 'reasoning: beside the text, whatever the upstream calls it'() {
      for (const [model, content] of [
        ['sandbox/reasoning', 'Good morning'],
        ['acme/fast', 'think'],
      ]) {
        const whole = await ask({ model, messages: [{ role: 'user', content }] });
        const { reasoning } = whole.choices[0].message;
        ok(reasoning.length > 0);
        const stream = await ask({ model, messages: [{ role: 'user', content }], stream: true });
        const { chunks } = await readAll(stream);
        equal(chunks.map(({ choices }) => choices[0]?.delta.reasoning ?? '').join(''), reasoning);
      }
    },
    async 'abort in the middle of a stream, by signal and by leaving the loop'() {
      const body = { model: 'sandbox/lorem', stream: true, sandbox: longAnswer };
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const stream = await ask(body, { signal: stop.signal });
        await stream[Symbol.asyncIterator]().next();
        return () => stop.abort();
      });
      await checkLeaving(service, async () => {
        const chunks = (await ask(body))[Symbol.asyncIterator]();
        await chunks.next();
        return () => chunks.return();
      });
    },
    async 'abort before the answer has begun'() {
      for (const stream of [false, true]) {
        const stop = new AbortController();
        service.begin();
        const asked = errorOf(ask({ model: 'sandbox/timeout', stream }, { signal: stop.signal }));
        const { stopped } = await service.nextSent();
        stop.abort();
        ok((await asked) instanceof APIUserAbortError);
        await stopped;
        equal((await service.nextRecord()).outcome, 'cancelled');
      }
    },
    async 'errors: each the client’s own class, with a message'() {
      const wrongKey = client.withOptions({ apiKey: 'sk-wrong-0123456789' });
      const unauthorized = await errorOf(wrongKey.chat.completions.create({ model: 'sandbox/echo', messages }));
      deepEqual([unauthorized.constructor, unauthorized.status], [OpenAI.AuthenticationError, 401]);
      for (const [body, Class, status, message] of [
        [{ model: 'sandbox/echo', temperature: 9 }, OpenAI.BadRequestError, 400, /temperature/],
        [{ model: 'acme/nothing' }, OpenAI.BadRequestError, 400, /acme\/nothing/],
        [{ model: 'sandbox/error-400' }, OpenAI.BadRequestError, 400, /sandbox\/error-400/],
        [{ model: 'sandbox/context-length' }, OpenAI.BadRequestError, 400, /context/i],
        [{ model: 'sandbox/error-404' }, OpenAI.NotFoundError, 404, /./],
        [{ model: 'sandbox/error-422' }, OpenAI.UnprocessableEntityError, 422, /./],
        [{ model: 'sandbox/rate-limited' }, OpenAI.RateLimitError, 429, /./],
        [{ model: 'sandbox/error-500' }, OpenAI.InternalServerError, 502, /./],
        [{ model: 'sandbox/overloaded' }, OpenAI.InternalServerError, 529, /./],
      ]) {
        for (const stream of [false, true]) {
          const error = await errorOf(ask({ ...body, stream }));
          deepEqual([error.constructor, error.status], [Class, status]);
          match(error.message, message);
          equal(error.error.code, status);
        }
      }
      const limited = await errorOf(ask({ model: 'sandbox/rate-limited' }));
      equal(limited.headers.get('retry-after'), '1');
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      const own = client.withOptions({ apiKey: tenant.apiKey }).chat.completions;
      const body = { model: 'sandbox/echo', messages };
      equal((await own.create(body)).choices[0].message.content, 'Good morning');
      await tenant.spend();
      for (const stream of [false, true]) {
        service.begin();
        const error = await errorOf(own.create({ ...body, stream }));
        deepEqual([error.constructor, error.status], [APIError, 402]);
        checkRefusal(error.error);
        await checkAskedOnce(service);
      }
    },
    async 'errors: the client’s own retry gets through'() {
      const answer = await ask({ model: 'sandbox/flaky' }, { maxRetries: 1 });
      equal(answer.choices[0].finish_reason, 'stop');
      equal((await service.nextRecord()).status, 529);
      equal((await service.nextRecord()).status, 200);
    },
    async 'a stream that breaks off throws an APIError after the text it brought'() {
      for (const [model, content] of [
        ['sandbox/cut-stream', 'Good morning'],
        ['sandbox/error-mid-stream', 'Good morning'],
        ['sandbox/reset', 'Good morning'],
        ['acme/fast', 'break off'],
      ]) {
        const body = { model, messages: [{ role: 'user', content }], stream: true };
        const { text, error } = await readAll(await ask(body));
        ok(text.length > 0, 'text before the break');
        deepEqual([error?.constructor, error?.code], [APIError, 502]);
        await checkCut(service);
        const gathered = await errorOf(completions.stream(body).finalChatCompletion());
        ok(gathered instanceof APIError);
        await checkCut(service);
      }
    },
    async 'fallback: a list of models in the body'() {
      const answer = await ask({ model: 'sandbox/error-500', models: ['sandbox/overloaded', 'sandbox/echo'] });
      deepEqual([answer.model, answer.choices[0].message.content], ['sandbox/echo', 'Good morning']);
      equal((await service.nextRecord()).attempts.length, 3);
    },
    async 'routing metadata: by a header of the client'() {
      const answer = await ask({ model: 'sandbox/echo' }, { headers: { 'X-Service-Metadata': 'enabled' } });
      deepEqual([answer.service_metadata.attempt, answer.service_metadata.strategy], [1, 'direct']);
    },
  };
}

function textOf(chunks) {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

function usageOf({ usage }) {
  return { input: usage.prompt_tokens, output: usage.completion_tokens, total: usage.total_tokens };
}
