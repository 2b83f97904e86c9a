import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI, { APIError } from 'openai';
import { checkCut, checkLeaving, checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { agents } from './connect.mjs';
import { bothCities, City, longAnswer, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** @returns the checks of `@openai/agents` in chat-completions mode */
export function agentsChecks(service, runner) {
  const agentOf = (model, options) => new Agent({ name: 'Guide', instructions: 'Be brief.', model, ...options });
  const ask = (agent, options, input = 'Good morning') => runner.run(agent, input, options);
  /** The result of a streamed run, its events read. */
  async function streamed(agent, input) {
    const result = await ask(agent, { stream: true }, input);
    const events = await Array.fromAsync(result);
    await result.completed;
    return { result, events };
  }
  /** The result of a run, whole and streamed. */
  const bothWays = async (agent, input) => [await ask(agent, {}, input), (await streamed(agent, input)).result];

  const tools = (seen) => [
    tool({
      name: toolName,
      description: toolDescription,
      parameters: ToolInput,
      execute({ city }) {
        seen.push(city);
        return weatherIn(city);
      },
    }),
  ];

  return {
    async 'chat: text and usage'() {
      const { finalOutput, rawResponses } = await ask(agentOf('sandbox/echo'));
      equal(finalOutput, 'Good morning');
      const [{ usage, providerData }] = rawResponses;
      deepEqual([providerData.model, providerData.choices[0].finish_reason], ['sandbox/echo', 'stop']);
      ok(providerData.usage.cost > 0);
      await checkUsage(service, usageOf(usage));
    },
    async 'stream: text and usage without asking'() {
      const { result, events } = await streamed(agentOf('sandbox/lorem'));
      const deltas = events.filter(({ data }) => data?.type === 'output_text_delta').map(({ data }) => data.delta);
      match(result.finalOutput, /^This is the sandbox/);
      deepEqual([deltas.join(''), deltas.length > 50], [result.finalOutput, true]);
      await checkUsage(service, usageOf(result.rawResponses[0].usage));
    },
    async 'stream: cost in the usage as it came, on request'() {
      const agent = agentOf('sandbox/lorem', { modelSettings: { preserveRawUsage: true } });
      const { result } = await streamed(agent);
      ok(result.rawResponses[0].rawUsage.cost > 0);
    },
    async 'tools: the loop ends with a text that quotes the result'() {
      const seen = [];
      for (const result of await bothWays(agentOf('sandbox/tool-call', { tools: tools(seen) }))) {
        match(result.finalOutput, new RegExp(weatherIn(seen[0])));
        equal(result.rawResponses.length, 2);
      }
      equal(seen.length, 2);
    },
    async 'tools: text and two calls in one answer, over a real HTTP upstream'() {
      const seen = [];
      for (const result of await bothWays(agentOf('acme/fast', { tools: tools(seen) }), 'two cities')) {
        equal(result.finalOutput, bothCities);
        equal(result.rawResponses[1].usage.inputTokens, 50);
      }
      deepEqual(seen, ['Oslo', 'Łódź', 'Oslo', 'Łódź']);
    },
    async 'tools: one agent hands over to another'() {
      const second = agentOf('sandbox/echo', { name: 'Second' });
      const result = await ask(agentOf('sandbox/tool-call', { handoffs: [second] }));
      deepEqual([result.lastAgent.name, result.finalOutput], ['Second', 'Good morning']);
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      const agent = agentOf('sandbox/json', { outputType: City });
      const [whole, stream] = await bothWays(agent);
      City.parse(whole.finalOutput);
      deepEqual(stream.finalOutput, whole.finalOutput);
    },
    async 'structured output: a refusal and a cut-off answer are the client’s own errors'() {
      equal((await errorOf(ask(agentOf('sandbox/refusal', { outputType: City })))).name, 'ModelRefusalError');
      const short = agentOf('sandbox/json', { outputType: City, modelSettings: { maxTokens: 3 } });
      equal((await errorOf(ask(short))).name, 'ModelBehaviorError');
    },
    async 'reasoning: an item of its own, whatever the upstream calls it'() {
      for (const [model, input] of [
        ['sandbox/reasoning', 'Good morning'],
        ['acme/fast', 'think'],
      ]) {
        const texts = (await bothWays(agentOf(model), input)).map(({ newItems }) => {
          const { rawItem } = newItems.find(({ type }) => type === 'reasoning_item');
          return rawItem.rawContent[0].text;
        });
        ok(texts[0].length > 0);
        equal(texts[1], texts[0]);
      }
    },
    async 'abort in the middle of a stream'() {
      const agent = agentOf('sandbox/lorem', { modelSettings: { providerData: { sandbox: longAnswer } } });
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const result = await ask(agent, { stream: true, signal: stop.signal });
        const events = result[Symbol.asyncIterator]();
        while ((await events.next()).value.data?.type !== 'output_text_delta');
        return () => {
          stop.abort();
          result.completed.catch(() => undefined);
        };
      });
    },
    async 'abort before the answer has begun'() {
      const stop = new AbortController();
      const asked = errorOf(ask(agentOf('sandbox/timeout'), { signal: stop.signal }));
      const { stopped } = await service.nextSent();
      stop.abort();
      ok((await asked) instanceof Error);
      await stopped;
      equal((await service.nextRecord()).outcome, 'cancelled');
    },
    async 'errors: those of the client below'() {
      const stranger = agents({ ...service, apiKey: 'sk-wrong-0123456789' });
      const unauthorized = await errorOf(stranger.run(agentOf('sandbox/echo'), 'Good morning'));
      deepEqual([unauthorized.constructor, unauthorized.status], [OpenAI.AuthenticationError, 401]);
      for (const [model, modelSettings, Class, status, message] of [
        ['sandbox/echo', { temperature: 9 }, OpenAI.BadRequestError, 400, /temperature/],
        ['acme/nothing', {}, OpenAI.BadRequestError, 400, /acme\/nothing/],
        ['sandbox/rate-limited', {}, OpenAI.RateLimitError, 429, /./],
        ['sandbox/error-500', {}, OpenAI.InternalServerError, 502, /./],
      ]) {
        const agent = agentOf(model, { modelSettings });
        for (const error of [await errorOf(ask(agent)), await errorOf(streamed(agent))]) {
          deepEqual([error.constructor, error.status], [Class, status]);
          match(error.message, message);
        }
      }
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      // With the retries that the client has by itself.
      const openAIClient = new OpenAI({ baseURL: service.baseURL, apiKey: tenant.apiKey });
      const modelProvider = new OpenAIProvider({ openAIClient, useResponses: false });
      const own = new Runner({ modelProvider, tracingDisabled: true });
      const agent = agentOf('sandbox/echo');
      equal((await own.run(agent, 'Good morning')).finalOutput, 'Good morning');
      await tenant.spend();
      for (const ask of [
        () => own.run(agent, 'Good morning'),
        async () => Array.fromAsync(await own.run(agent, 'Good morning', { stream: true })),
      ]) {
        service.begin();
        const error = await errorOf(ask());
        deepEqual([error.constructor, error.status], [APIError, 402]);
        checkRefusal(error.error);
        await checkAskedOnce(service);
      }
    },
    async 'a stream that breaks off rejects the run, and is in its error'() {
      for (const [model, input] of [
        ['sandbox/cut-stream', 'Good morning'],
        ['sandbox/error-mid-stream', 'Good morning'],
        ['sandbox/reset', 'Good morning'],
        ['acme/fast', 'break off'],
      ]) {
        const result = await ask(agentOf(model), { stream: true }, input);
        const error = await errorOf(Array.fromAsync(result));
        deepEqual([error.constructor, error.code], [APIError, 502]);
        equal(result.error, error);
        equal(await errorOf(result.completed), error);
        await checkCut(service);
      }
    },
    async 'fallback: a list of models in the provider data of the settings'() {
      const agent = agentOf('sandbox/error-500', { modelSettings: { providerData: { models: ['sandbox/echo'] } } });
      const { finalOutput, rawResponses } = await ask(agent);
      deepEqual([finalOutput, rawResponses[0].providerData.model], ['Good morning', 'sandbox/echo']);
    },
  };
}

function usageOf({ inputTokens, outputTokens, totalTokens }) {
  return { input: inputTokens, output: outputTokens, total: totalTokens };
}
