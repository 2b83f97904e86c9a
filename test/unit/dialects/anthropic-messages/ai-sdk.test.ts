import { createAnthropic } from '@ai-sdk/anthropic';
import { expect, it } from 'vitest';
import { anthropicMessages } from '../../../../src/dialects/anthropic-messages/index.ts';
import { anthropic } from '../../../../src/providers/anthropic.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { manualClock } from '../../../support/manual-clock.ts';

const upstreamModel = 'claude-sonnet-4-5';
const png = 'iVBORw0KGgo=';
const schema = { type: 'object' as const, properties: { at: { type: 'string' as const } }, required: ['at'] };

const request: ChatRequest = {
  max_tokens: 4000,
  reasoning: { max_tokens: 2000 },
  stop: ['END'],
  tool_choice: 'auto',
  tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } }],
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ],
    },
    {
      role: 'assistant',
      content: 'I will look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'A thought.', signature: 'sig', format: 'anthropic-claude-v1', index: 0 },
      ],
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'A cat' },
    { role: 'user', content: 'And now?' },
  ],
};

/** The same conversation, as the AI SDK sends it. */
async function sentByAiSdk(): Promise<{ url: string; headers: Record<string, string>; body: Record<string, unknown> }> {
  let sent = { url: '', headers: {}, body: {} };
  const answer = {
    type: 'message',
    id: 'msg_1',
    model: upstreamModel,
    role: 'assistant',
    content: [{ type: 'text', text: 'A cat.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const provider = createAnthropic({
    apiKey: 'sk-test',
    fetch: async (url, init) => {
      sent = { url: String(url), headers: init?.headers as object, body: JSON.parse(init?.body as string) };
      return Response.json(answer);
    },
  });
  await provider(upstreamModel).doGenerate({
    maxOutputTokens: 4000,
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
    stopSequences: ['END'],
    toolChoice: { type: 'auto' },
    tools: [{ type: 'function', name: 'look', description: 'Looks.', inputSchema: schema }],
    prompt: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'A thought.', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'text', text: 'I will look.' },
          { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: { at: 'it' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: 'look', output: { type: 'text', value: 'A cat' } },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ],
  });
  return sent;
}

it('a conversation becomes what the AI SDK makes of it, but for differences that have reasons', async () => {
  const theirs = await sentByAiSdk();
  const { path, headers, payload, body } = anthropicMessages.encodeRequest({ request, upstreamModel, quirks: {} });
  const expected = structuredClone(theirs.body);
  // The SDK's largest output leaves thoughts out, and theirs are added to it. Ours holds for both: money was held for it.
  expect(expected.max_tokens).toBe(6000);
  expected.max_tokens = 4000;
  // The same choice, which is Anthropic's default.
  expect(expected.tool_choice).toEqual({ type: 'auto' });
  delete expected.tool_choice;
  // A result that is one text may be that text or a block. Blocks can be marked, and hold images.
  const turns = expected.messages as { content: { content?: unknown }[] }[];
  expect(turns[2]?.content[0]?.content).toBe('A cat');
  Object.assign(turns[2]?.content[0] as object, { content: [{ type: 'text', text: 'A cat' }] });
  expect(payload).toEqual(expected);

  const sent = await anthropic.auth(
    { method: 'POST', url: `${anthropic.baseUrl}${path}`, headers, body },
    { secret: 'sk-test' },
    manualClock(),
  );
  expect(sent.url).toBe(theirs.url);
  for (const name of ['x-api-key', 'anthropic-version', 'content-type'])
    expect([name, sent.headers[name]]).toEqual([name, theirs.headers[name]]);
  // The SDK sends the mark of the trial of structured output with every tool. They need it no longer.
  expect(theirs.headers['anthropic-beta']).toBe('structured-outputs-2025-11-13');
  expect(sent.headers).not.toHaveProperty('anthropic-beta');
});
