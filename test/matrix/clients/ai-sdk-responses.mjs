import { deepEqual, equal, ok } from 'node:assert/strict';
import { APICallError, generateText, isStepCount, Output, streamText, tool } from 'ai';
import { checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { dialects, greeting, oslo } from './dialects.mjs';
import { bothCities, City, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';

/** @returns the checks of `ai` with the Responses model of `@ai-sdk/openai`, over an upstream of one wire format */
export function aiSdkResponsesOver(dialect, { service, provider, sent, model = `acme/${dialect}` }) {
  const providerOptions = { openai: { store: false } };
  const ask = (prompt, options) => ({ model: provider(model), prompt, maxRetries: 0, providerOptions, ...options });
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
    async 'text, finish reason and usage'() {
      for (const call of [generateText, streamText]) {
        const result = call(ask('hello'));
        const { text, finishReason, usage } = await result;
        deepEqual([await (text ?? result.text), await (finishReason ?? result.finishReason)], [greeting, 'stop']);
        const { inputTokens: input, outputTokens: output, totalTokens: total } = await (usage ?? result.usage);
        await checkUsage(service, { input, output, total });
      }
    },
    async 'stream: piece by piece'() {
      const pieces = await Array.fromAsync(streamText(ask('hello')).textStream);
      deepEqual([pieces.join(''), pieces.length > 3], [greeting, true]);
    },
    async 'reasoning: apart from the text'() {
      for (const call of [generateText, streamText]) {
        const result = await call(ask('think', { reasoning: 'low' }));
        deepEqual([await result.text, await result.reasoningText], ['Forty-two.', 'Six times seven.']);
      }
    },
    async 'tools: a loop over text and two calls, with the thoughts sent back'() {
      for (const call of [generateText, streamText]) {
        sent.length = 0;
        const seen = [];
        const options = { tools: tools(seen), stopWhen: isStepCount(5), reasoning: 'low' };
        const result = await call(ask('two cities', options));
        deepEqual([await result.text, seen], [bothCities, ['Oslo', 'Łódź']]);
        const steps = await result.steps;
        deepEqual(
          steps.map(({ finishReason }) => finishReason),
          ['tool-calls', 'stop'],
        );
        equal(steps[0].text, 'Let me see. ');
        const { sealed } = dialects[dialect];
        if (sealed !== undefined)
          deepEqual(
            sent.map((text) => text.includes(sealed)),
            [false, true],
          );
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      for (const call of [generateText, streamText]) {
        const result = await call(ask('the city', { output: Output.object({ schema: City, name: 'city' }) }));
        deepEqual(await result.output, oslo);
      }
    },
    async 'a stream that breaks off has an error part'() {
      const parts = await Array.fromAsync(streamText({ ...ask('break off'), onError: () => undefined }).stream);
      ok(parts.some(({ type }) => type === 'error'));
      equal(parts.at(-1).finishReason, 'error');
    },
    async 'errors: an APICallError with status and message'() {
      const error = await errorOf(generateText(ask('hello', { temperature: 9, providerOptions: undefined })));
      ok(APICallError.isInstance(error));
      equal(error.statusCode, 400);
    },
  };
}
