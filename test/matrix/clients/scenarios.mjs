// What every client is asked to do, so that the suites differ only in the client.
import { LLMock } from '@copilotkit/aimock';
import * as z from 'zod';
import { mockKey } from './service.mjs';

/** A structured answer: the client makes JSON Schema of it, and checks the answer against it. */
export const City = z.object({
  name: z.string().min(2),
  population: z.int().min(1),
  climate: z.enum(['mild', 'cold', 'hot']),
  landmarks: z.array(z.object({ name: z.string(), year: z.int().nullable() })).min(1),
});

export const toolName = 'get_weather';
export const toolDescription = 'The weather in a city';
export const ToolInput = z.object({ city: z.string() });
/** What the tool answers; a final text that quotes it has gone round the whole loop. */
export const weatherIn = (city) => `It is 21 °C in ${city}`;

/** Enough tokens, slowly, to leave in the middle. */
export const longAnswer = { tokens: 2000, token_ms: 5 };

/** A mock server of another project, over real HTTP: what the sandbox's answers are too simple for. */
export async function startMock() {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', auth: { apiKeys: [mockKey] } });
  const calls = ['Oslo', 'Łódź'].map((city, at) => ({
    id: `call_${at}`,
    name: toolName,
    arguments: JSON.stringify({ city }),
  }));
  // Text and two calls in one answer, in pieces that cut names, escapes and characters.
  mock.on(
    { userMessage: 'two cities', hasToolResult: false },
    { content: 'Let me see. ', toolCalls: calls },
    { chunkSize: 3 },
  );
  mock.on(
    { userMessage: 'two cities', hasToolResult: true },
    ({ messages }) => ({
      content: messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => textOf(content))
        .join('; '),
      usage: { prompt_tokens: 50, completion_tokens: 12, total_tokens: 62 },
    }),
    { chunkSize: 3 },
  );
  mock.on({ userMessage: 'think' }, { content: 'Forty-two.', reasoning: 'Six times seven.' }, { chunkSize: 5 });
  // Without the latency it cuts before anything has been sent.
  mock.on(
    { userMessage: 'break off' },
    { content: 'This sentence has no ' },
    { chunkSize: 4, truncateAfterChunks: 3, latency: 5 },
  );
  await mock.start();
  return mock;
}

/** The last text of a loop over `two cities`: both tool results, in order, characters whole. */
export const bothCities = ['Oslo', 'Łódź'].map(weatherIn).join('; ');

function textOf(content) {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}
