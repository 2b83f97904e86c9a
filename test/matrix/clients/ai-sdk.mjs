import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  APICallError,
  generateText,
  isStepCount,
  NoObjectGeneratedError,
  Output,
  RetryError,
  streamText,
  tool,
} from 'ai';
import { checkCut, checkLeaving, checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { aiSdk } from './connect.mjs';
import { bothCities, City, longAnswer, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** @returns the checks of `ai` with `@ai-sdk/openai-compatible` */
export function aiSdkChecks(service, provider) {
  const ask = (model, options) => ({ model: provider(model), prompt: 'Good morning', maxRetries: 0, ...options });
  /** All parts of a stream; what fails is a part. */
  const partsOf = (options) => Array.fromAsync(streamText({ onError: () => undefined, ...options }).stream);

  const tools = (seen) => ({
    [toolName]: tool({
      description: toolDescription,
      inputSchema: ToolInput,
      execute({ city }) {
        seen.push(city);
        return weatherIn(city);
      },
    }),
  });

  return {
    async 'chat: text, finish reason, usage and cost'() {
      const { text, finishReason, usage, response } = await generateText(ask('sandbox/echo'));
      deepEqual([text, finishReason, response.modelId], ['Good morning', 'stop', 'sandbox/echo']);
      ok(usage.raw.cost > 0);
      await checkUsage(service, usageOf(usage));
    },
    async 'stream: text, finish reason and usage'() {
      const result = streamText(ask('sandbox/lorem'));
      match((await Array.fromAsync(result.textStream)).join(''), /^This is the sandbox/);
      equal(await result.finishReason, 'stop');
      ok((await result.usage).raw.cost > 0);
      await checkUsage(service, usageOf(await result.usage));
    },
    async 'tools: the loop ends with a text that quotes the result'() {
      for (const call of [generateText, streamText]) {
        const seen = [];
        const result = await call(ask('sandbox/tool-call', { tools: tools(seen), stopWhen: isStepCount(5) }));
        match(await result.text, new RegExp(weatherIn(seen[0])));
        deepEqual([seen.length, (await result.steps).length], [1, 2]);
        deepEqual(
          (await result.steps).map(({ finishReason }) => finishReason),
          ['tool-calls', 'stop'],
        );
      }
    },
    async 'tools: text and two calls in one answer, over a real HTTP upstream'() {
      for (const call of [generateText, streamText]) {
        const seen = [];
        const options = { prompt: 'two cities', tools: tools(seen), stopWhen: isStepCount(5) };
        const result = await call(ask('acme/fast', options));
        equal(await result.text, bothCities);
        deepEqual(seen, ['Oslo', 'Łódź']);
        equal((await result.steps)[0].text, 'Let me see. ');
        equal((await result.steps)[1].usage.inputTokens, 50);
        await service.nextRecord();
        equal((await service.nextRecord()).costNanoUsd, 50 * 2000 + 12 * 8000);
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      const options = () => ask('sandbox/json', { output: Output.object({ schema: City, name: 'city' }) });
      const { output } = await generateText(options());
      City.parse(output);
      const { body } = await service.nextSent();
      equal(body.response_format.json_schema.name, 'city');
      deepEqual(await streamText(options()).output, output);
    },
    async 'structured output: an answer that was cut short is an error of the client'() {
      const options = { output: Output.object({ schema: City }), maxOutputTokens: 3 };
      ok(
        NoObjectGeneratedError.isInstance(
          await errorOf(generateText(ask('sandbox/json', options)).then(({ output }) => output)),
        ),
      );
    },
    async 'reasoning: apart from the text, whatever the upstream calls it'() {
      for (const [model, prompt] of [
        ['sandbox/reasoning', 'Good morning'],
        ['acme/fast', 'think'],
      ]) {
        const whole = await generateText(ask(model, { prompt }));
        ok(whole.reasoningText.length > 0);
        const streamed = streamText(ask(model, { prompt }));
        equal(await streamed.reasoningText, whole.reasoningText);
        equal(await streamed.text, whole.text);
      }
    },
    async 'abort in the middle of a stream'() {
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const providerOptions = { gateway: { sandbox: longAnswer } };
        const { stream } = streamText(ask('sandbox/lorem', { providerOptions, abortSignal: stop.signal }));
        const parts = stream[Symbol.asyncIterator]();
        while ((await parts.next()).value.type !== 'text-delta');
        return async () => {
          stop.abort();
          const types = [];
          for (let part = await parts.next(); !part.done; part = await parts.next()) types.push(part.value.type);
          equal(types.at(-1), 'abort');
          ok(!types.includes('finish'));
        };
      });
    },
    async 'abort before the answer has begun'() {
      const stop = new AbortController();
      const asked = errorOf(generateText(ask('sandbox/timeout', { abortSignal: stop.signal })));
      const { stopped } = await service.nextSent();
      stop.abort();
      equal((await asked).name, 'AbortError');
      await stopped;
      equal((await service.nextRecord()).outcome, 'cancelled');
    },
    async 'errors: an APICallError with status, message and whether to try again'() {
      const unauthorized = aiSdk({ ...service, apiKey: 'sk-wrong-0123456789' });
      for (const [model, options, status, message, isRetryable] of [
        [unauthorized('sandbox/echo'), {}, 401, /./, false],
        [provider('sandbox/echo'), { temperature: 9 }, 400, /temperature/, false],
        [provider('acme/nothing'), {}, 400, /acme\/nothing/, false],
        [provider('sandbox/error-400'), {}, 400, /sandbox\/error-400/, false],
        [provider('sandbox/rate-limited'), {}, 429, /./, true],
        [provider('sandbox/error-500'), {}, 502, /./, true],
        [provider('sandbox/overloaded'), {}, 529, /./, true],
      ]) {
        const error = await errorOf(generateText(ask('', { ...options, model })));
        ok(APICallError.isInstance(error));
        deepEqual([error.statusCode, error.isRetryable], [status, isRetryable]);
        match(error.message, message);
        const parts = await partsOf(ask('', { ...options, model }));
        equal(parts.at(-1).type, 'error');
        deepEqual([parts.at(-1).error.statusCode, parts.at(-1).error.message], [status, error.message]);
      }
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      const model = aiSdk({ ...service, apiKey: tenant.apiKey })('sandbox/echo');
      const options = { model, prompt: 'Good morning' };
      equal((await generateText(options)).text, 'Good morning');
      await tenant.spend();
      for (const ask of [
        () => errorOf(generateText(options)),
        async () => (await partsOf(options)).find(({ type }) => type === 'error').error,
      ]) {
        service.begin();
        const error = await ask();
        ok(APICallError.isInstance(error));
        deepEqual([error.statusCode, error.isRetryable], [402, false]);
        checkRefusal(JSON.parse(error.responseBody).error);
        match(error.message, /lifetime budget/);
        await checkAskedOnce(service);
      }
    },
    async 'errors: the client’s own retry gets through, or says how often it tried'() {
      const { finishReason } = await generateText(ask('sandbox/flaky', { maxRetries: 1 }));
      equal(finishReason, 'stop');
      const error = await errorOf(generateText(ask('sandbox/rate-limited', { maxRetries: 1 })));
      ok(RetryError.isInstance(error));
      deepEqual(
        error.errors.map(({ statusCode }) => statusCode),
        [429, 429],
      );
    },
    async 'a stream that breaks off has an error part and finishes with "error"'() {
      for (const [model, prompt] of [
        ['sandbox/cut-stream', 'Good morning'],
        ['sandbox/error-mid-stream', 'Good morning'],
        ['sandbox/reset', 'Good morning'],
        ['acme/fast', 'break off'],
      ]) {
        const parts = await partsOf(ask(model, { prompt }));
        const { error } = parts.find(({ type }) => type === 'error');
        equal(error.statusCode, 502);
        equal(parts.at(-1).finishReason, 'error');
        await checkCut(service);
      }
    },
    async 'a stream that breaks off looks whole in its text alone'() {
      const failures = [];
      const result = streamText(ask('sandbox/cut-stream', { onError: ({ error }) => failures.push(error) }));
      // The client's own choice, told in docs/clients.md: neither of these fails.
      equal((await Array.fromAsync(result.textStream)).join(''), await result.text);
      deepEqual([await result.finishReason, failures.length], ['error', 1]);
    },
    async 'a structured answer that breaks off is an error of the client'() {
      const options = { output: Output.object({ schema: City }), onError: () => undefined };
      const { output } = streamText(ask('sandbox/cut-stream', options));
      ok(NoObjectGeneratedError.isInstance(await errorOf(output)));
    },
    async 'fallback: a list of models in the provider options'() {
      const providerOptions = { gateway: { models: ['sandbox/echo'] } };
      const { text, response } = await generateText(ask('sandbox/error-500', { providerOptions }));
      deepEqual([text, response.modelId], ['Good morning', 'sandbox/echo']);
    },
  };
}

function usageOf({ inputTokens, outputTokens, totalTokens }) {
  return { input: inputTokens, output: outputTokens, total: totalTokens };
}
