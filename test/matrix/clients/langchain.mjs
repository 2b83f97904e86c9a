import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { HumanMessage } from '@langchain/core/messages';
import { OutputParserException } from '@langchain/core/output_parsers';
import { tool } from '@langchain/core/tools';
import { checkCut, checkLeaving, checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { langchain } from './connect.mjs';
import { bothCities, City, longAnswer, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** @returns the checks of `@langchain/openai` */
export function langchainChecks(service) {
  const modelOf = (model, options) => langchain(service, model, options);

  /** The message that a stream adds up to, and its pieces. */
  async function gather(stream) {
    const pieces = await Array.fromAsync(await stream);
    return { message: pieces.reduce((sum, piece) => sum.concat(piece)), pieces };
  }

  /** Answers tool calls until there are none. */
  async function loop(model, content, ask) {
    const seen = [];
    const weather = tool(
      ({ city }) => {
        seen.push(city);
        return weatherIn(city);
      },
      { name: toolName, description: toolDescription, schema: ToolInput },
    );
    const bound = modelOf(model).bindTools([weather]);
    const messages = [new HumanMessage(content)];
    for (let turn = 0; turn < 5; turn++) {
      const message = await ask(bound, messages);
      messages.push(message);
      if (message.tool_calls.length === 0) break;
      for (const call of message.tool_calls) messages.push(await weather.invoke(call));
    }
    return { messages, seen };
  }
  const askings = [
    (bound, messages) => bound.invoke(messages),
    async (bound, messages) => (await gather(bound.stream(messages))).message,
  ];

  return {
    async 'chat: text, finish reason, usage and cost'() {
      const {
        text,
        response_metadata: metadata,
        usage_metadata: usage,
      } = await modelOf('sandbox/echo').invoke('Good morning');
      deepEqual([text, metadata.finish_reason, metadata.model_name], ['Good morning', 'stop', 'sandbox/echo']);
      ok(metadata.usage.cost > 0);
      await checkUsage(service, usageOf(usage));
    },
    async 'stream: text, finish reason, usage and cost'() {
      const { message, pieces } = await gather(modelOf('sandbox/lorem').stream('Good morning'));
      match(message.text, /^This is the sandbox/);
      ok(pieces.length > 50);
      equal(message.response_metadata.finish_reason, 'stop');
      ok(message.response_metadata.usage.cost > 0);
      await checkUsage(service, usageOf(message.usage_metadata));
    },
    async 'tools: the loop ends with a text that quotes the result'() {
      for (const ask of askings) {
        const { messages, seen } = await loop('sandbox/tool-call', 'Good morning', ask);
        match(messages.at(-1).text, new RegExp(weatherIn(seen[0])));
        deepEqual([seen.length, messages[1].response_metadata.finish_reason], [1, 'tool_calls']);
      }
    },
    async 'tools: text and two calls in one answer, over a real HTTP upstream'() {
      for (const ask of askings) {
        const { messages, seen } = await loop('acme/fast', 'two cities', ask);
        deepEqual([messages.at(-1).text, messages[1].text], [bothCities, 'Let me see. ']);
        deepEqual(seen, ['Oslo', 'Łódź']);
        equal(messages.at(-1).usage_metadata.input_tokens, 50);
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      const model = modelOf('sandbox/json').withStructuredOutput(City, { name: 'city' });
      const whole = await model.invoke('Good morning');
      City.parse(whole);
      equal((await service.nextSent()).body.response_format.json_schema.name, 'city');
      deepEqual((await Array.fromAsync(await model.stream('Good morning'))).at(-1), whole);
    },
    async 'structured output: by a tool'() {
      const model = modelOf('sandbox/tool-call').withStructuredOutput(City, { method: 'functionCalling' });
      City.parse(await model.invoke('Good morning'));
    },
    async 'structured output: what does not fit the schema is an error of the client'() {
      const model = modelOf('sandbox/json').withStructuredOutput(City, { method: 'jsonMode' });
      ok((await errorOf(model.invoke('JSON, please'))) instanceof OutputParserException);
    },
    async 'reasoning: its tokens are counted; its text only in the raw answer, on request'() {
      const message = await modelOf('sandbox/reasoning', { __includeRawResponse: true }).invoke('Good morning');
      ok(message.usage_metadata.output_token_details.reasoning > 0);
      deepEqual(
        message.contentBlocks.map(({ type }) => type),
        ['text'],
      );
      match(message.additional_kwargs.__raw_response.choices[0].message.reasoning, /does not think/);
    },
    async 'abort in the middle of a stream'() {
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const model = modelOf('sandbox/lorem', { modelKwargs: { sandbox: longAnswer } });
        const pieces = (await model.stream('Good morning', { signal: stop.signal }))[Symbol.asyncIterator]();
        await pieces.next();
        return async () => {
          stop.abort();
          equal((await errorOf(restOf(pieces))).name, 'AbortError');
        };
      });
    },
    async 'abort before the answer has begun'() {
      const stop = new AbortController();
      const asked = errorOf(modelOf('sandbox/timeout').invoke('Good morning', { signal: stop.signal }));
      const { stopped } = await service.nextSent();
      stop.abort();
      equal((await asked).name, 'AbortError');
      await stopped;
      equal((await service.nextRecord()).outcome, 'cancelled');
    },
    async 'errors: status, message and the client’s own code'() {
      for (const [model, options, status, message, code] of [
        ['sandbox/echo', { apiKey: 'sk-wrong-0123456789' }, 401, /API key/, 'MODEL_AUTHENTICATION'],
        ['sandbox/echo', { temperature: 9 }, 400, /temperature/],
        ['acme/nothing', {}, 400, /acme\/nothing/],
        ['sandbox/error-404', {}, 404, /./, 'MODEL_NOT_FOUND'],
        ['sandbox/rate-limited', {}, 429, /./, 'MODEL_RATE_LIMIT'],
        ['sandbox/error-500', {}, 502, /./],
      ]) {
        const chat = modelOf(model, options);
        for (const error of [await errorOf(chat.invoke('Hi')), await errorOf(gather(chat.stream('Hi')))]) {
          deepEqual([error.status, error.lc_error_code], [status, code]);
          match(error.message, message);
        }
      }
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      const model = modelOf('sandbox/echo', { apiKey: tenant.apiKey, maxRetries: 6 });
      equal((await model.invoke('Good morning')).text, 'Good morning');
      await tenant.spend();
      for (const ask of [() => model.invoke('Good morning'), () => gather(model.stream('Good morning'))]) {
        service.begin();
        const error = await errorOf(ask());
        deepEqual([error.constructor.name, error.status, error.lc_error_code], ['APIError', 402, undefined]);
        checkRefusal(error.error);
        await checkAskedOnce(service);
      }
    },
    async 'errors: the client’s own retry gets through'() {
      equal((await modelOf('sandbox/flaky', { maxRetries: 1 }).invoke('Hi')).response_metadata.finish_reason, 'stop');
      deepEqual([(await service.nextRecord()).status, (await service.nextRecord()).status], [529, 200]);
    },
    async 'a stream that breaks off throws after the text it brought'() {
      for (const [model, content] of [
        ['sandbox/cut-stream', 'Good morning'],
        ['sandbox/error-mid-stream', 'Good morning'],
        ['sandbox/reset', 'Good morning'],
        ['acme/fast', 'break off'],
      ]) {
        const pieces = (await modelOf(model).stream(content))[Symbol.asyncIterator]();
        equal((await pieces.next()).done, false);
        const error = await errorOf(restOf(pieces));
        deepEqual([error.constructor.name, error.code], ['APIError', 502]);
        await checkCut(service);
      }
    },
    async 'fallback: a list of models in the model’s keyword arguments'() {
      const { text, response_metadata } = await modelOf('sandbox/error-500', {
        modelKwargs: { models: ['sandbox/echo'] },
      }).invoke('Hi');
      deepEqual([text, response_metadata.model_name], ['Hi', 'sandbox/echo']);
    },
  };
}

async function restOf(pieces) {
  while (!(await pieces.next()).done);
}

function usageOf({ input_tokens: input, output_tokens: output, total_tokens: total }) {
  return { input, output, total };
}
