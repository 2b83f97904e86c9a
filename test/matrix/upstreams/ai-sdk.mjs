// The AI SDK with a provider of any wire, over a scripted model. Each part has packages of its own, and passes them in.
import { deepEqual, equal } from 'node:assert/strict';
import { forecast, greeting, prompt, thoughtAt, weatherIn } from './weather.mjs';

/**
 * @param packages  `ai` and `zod`
 * @param model     of the provider that is tested
 * @param settings  of each request, beside the model
 * @param upstream  see `startUpstream`
 * @returns `checks` of the model; `streamCalls(more)`: a stream of two calls, with further settings
 */
export function aiSdkChecksOf({ ai, zod }, { model, settings, upstream }) {
  const { generateText, stepCountIs, streamText, tool } = ai;
  const inputSchema = zod.object({ city: zod.string() });
  const tools = { get_weather: tool({ inputSchema, execute: ({ city }) => weatherIn(city) }) };
  const asked = { model, maxRetries: 0, ...settings };
  const steps = (expected) => deepEqual([upstream.steps, upstream.problems], [expected, []]);
  const checks = {
    async 'a text'() {
      const { text, finishReason, usage } = await generateText({ ...asked, prompt: 'Hi' });
      deepEqual([text, finishReason, usage.inputTokens, usage.outputTokens], [greeting, 'stop', 1_000, 40]);
      steps(['greet']);
    },
    async 'a stream with thoughts'() {
      const said = streamText({ ...asked, prompt: 'Hi' });
      deepEqual([await said.text, await said.reasoningText], [greeting, thoughtAt('greet')]);
      equal((await said.usage).inputTokens, 1_000);
    },
    async 'two calls, run by the SDK, and the answer, whole and streamed'() {
      const loop = { ...asked, tools, prompt, stopWhen: stepCountIs(3) };
      equal((await generateText(loop)).text, forecast);
      equal(await streamText(loop).text, forecast);
      steps(['call', 'answer', 'call', 'answer']);
    },
    async 'an overloaded model is asked again'() {
      upstream.begin({ greet: 'overloaded' });
      equal((await generateText({ ...asked, prompt: 'Hi' })).text, greeting);
      steps(['greet: overloaded', 'greet']);
    },
  };
  return { checks, streamCalls: (more = {}) => streamText({ ...asked, tools, prompt, ...more }) };
}
