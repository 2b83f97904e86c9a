import { deepEqual, equal, ok } from 'node:assert/strict';
import { Agent, tool } from '@openai/agents';
import OpenAI from 'openai';
import { checkUsage } from './answers.mjs';
import { errorOf } from './check.mjs';
import { dialects, greeting, oslo, thought } from './dialects.mjs';
import { bothCities, City, ToolInput, toolDescription, toolName, weatherIn } from './scenarios.mjs';

/** @returns the checks of `@openai/agents` as it is set up by itself, over an upstream of one wire format */
export function agentsResponsesOver(dialect, { service, runner, sent, model = `acme/${dialect}` }) {
  const agentOf = (options) => new Agent({ name: 'Guide', instructions: 'Be brief.', model, ...options });
  const ways = [
    (agent, input) => runner.run(agent, input),
    async (agent, input) => {
      const result = await runner.run(agent, input, { stream: true });
      await Array.fromAsync(result);
      await result.completed;
      return result;
    },
  ];
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
  const modelSettings = { store: false, providerData: { include: ['reasoning.encrypted_content'] } };

  return {
    async 'text and usage'() {
      for (const run of ways) {
        const { finalOutput, rawResponses } = await run(agentOf(), 'hello');
        equal(finalOutput, greeting);
        const { inputTokens: input, outputTokens: output, totalTokens: total } = rawResponses[0].usage;
        await checkUsage(service, { input, output, total });
      }
    },
    async 'tools: a loop over text and two calls, with the thoughts sent back'() {
      for (const run of ways) {
        sent.length = 0;
        const seen = [];
        const agent = agentOf({
          tools: tools(seen),
          modelSettings: { ...modelSettings, reasoning: { effort: 'low' } },
        });
        const result = await run(agent, 'two cities');
        deepEqual([result.finalOutput, seen], [bothCities, ['Oslo', 'Łódź']]);
        const { rawItem } = result.newItems.find(({ type }) => type === 'reasoning_item');
        equal([...rawItem.content, ...(rawItem.rawContent ?? [])].map(({ text }) => text).join(''), thought);
        const { sealed } = dialects[dialect];
        if (sealed !== undefined)
          deepEqual(
            sent.map((text) => text.includes(sealed)),
            [false, true],
          );
      }
    },
    async 'one agent hands over to another'() {
      for (const run of ways) {
        const second = agentOf({ name: 'Second' });
        const result = await run(agentOf({ handoffs: [second] }), 'ask another');
        deepEqual([result.lastAgent.name, result.finalOutput], ['Second', 'I am the second.']);
      }
    },
    async 'structured output: parsed and checked by the client’s own schema'() {
      for (const run of ways) deepEqual((await run(agentOf({ outputType: City }), 'the city')).finalOutput, oslo);
    },
    async 'a stream that breaks off rejects the run'() {
      const result = await runner.run(agentOf(), 'break off', { stream: true });
      const error = await errorOf(Array.fromAsync(result));
      ok(error instanceof Error);
      equal(error.status, undefined, 'the stream had begun');
      equal(result.error, error);
      equal(await errorOf(result.completed), error);
    },
    async 'errors: those of the client below'() {
      for (const run of ways) {
        const error = await errorOf(run(agentOf({ modelSettings: { temperature: 9 } }), 'hello'));
        deepEqual([error.constructor, error.status], [OpenAI.BadRequestError, 400]);
      }
    },
  };
}
