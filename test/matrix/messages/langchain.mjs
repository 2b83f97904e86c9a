// LangChain, with its client for Anthropic's messages.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { apiKey } from '../upstreams/gateway.mjs';
import { cities, forecast, greeting, prompt, weatherIn } from '../upstreams/weather.mjs';

const weather = tool(({ city }) => weatherIn(city), {
  name: 'get_weather',
  description: 'The weather',
  schema: z.object({ city: z.string() }),
});

/** @returns checks of one model */
export function langchainChecks({ root, upstream, dialect }) {
  const model = new ChatAnthropic({
    model: `acme/${dialect}`,
    apiKey,
    anthropicApiUrl: root,
    maxRetries: 0,
    maxTokens: 4_000,
    thinking: { type: 'adaptive' },
  });
  const steps = (expected) => deepEqual([upstream.steps, upstream.problems], [expected, []]);
  const streamed = async (bound, messages) => {
    let whole;
    for await (const chunk of await bound.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return whole;
  };
  return {
    async 'a message'() {
      const said = await model.invoke('Hi');
      equal(said.text, greeting);
      deepEqual([said.usage_metadata.input_tokens, said.usage_metadata.output_tokens], [1_000, 40]);
      steps(['greet']);
    },
    async 'two calls, their results and the answer, whole and streamed'() {
      const bound = model.bindTools([weather]);
      for (const ask of [(messages) => bound.invoke(messages), (messages) => streamed(bound, messages)]) {
        const messages = [new HumanMessage(prompt)];
        const made = await ask(messages);
        deepEqual(
          made.tool_calls.map(({ args }) => args.city),
          cities,
        );
        const results = await Promise.all(made.tool_calls.map((call) => weather.invoke(call)));
        equal(results[0] instanceof ToolMessage, true);
        equal((await ask([...messages, made, ...results])).text, forecast);
      }
      steps(['call', 'answer', 'call', 'answer']);
    },
    async 'an overloaded model is asked again'() {
      upstream.begin({ greet: 'overloaded' });
      equal((await model.invoke('Hi')).text, greeting);
      steps(['greet: overloaded', 'greet']);
    },
    async 'a stream that breaks off is an error'() {
      upstream.begin({ greet: 'cut' });
      await rejects(streamed(model, 'Hi'));
    },
  };
}
