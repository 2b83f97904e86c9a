import { deepEqual, equal, ok } from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { errorOf } from './check.mjs';

/** Without a socket and without a key, as docs/clients.md shows it. */
function openaiOfUser({ gateway, user }) {
  const client = new OpenAI(gateway.as(user).clientOptions());
  return client;
}

const user = { permissions: ['inference'], workspaceId: 'w-clients', userId: 'ada' };

/** @returns the checks of clients that have `clientOptions` of the gateway */
export function inProcessChecks(service) {
  const { gateway } = service;
  const messages = [{ role: 'user', content: 'Good morning' }];
  const checkRecord = async () => {
    const { userId, workspaceId, apiKeyHash } = await service.nextRecord();
    deepEqual([userId, workspaceId, apiKeyHash], ['ada', 'w-clients', null]);
  };
  return {
    async 'openai: chat, streams and Responses'() {
      const client = openaiOfUser({ gateway, user });
      const { choices } = await client.chat.completions.create({ model: 'sandbox/echo', messages });
      equal(choices[0].message.content, 'Good morning');
      await checkRecord();
      const stream = client.chat.completions.stream({ model: 'sandbox/lorem', messages });
      ok((await stream.finalContent()).startsWith('This is the sandbox'));
      await checkRecord();
      equal((await client.responses.create({ model: 'sandbox/echo', input: 'Hi' })).output_text, 'Hi');
      await checkRecord();
      equal((await errorOf(client.get('/keys'))).status, 403);
    },
    async 'the AI SDK and LangChain: the same options'() {
      const options = gateway.as(user).clientOptions();
      for (const model of [
        createOpenAICompatible({ name: 'gateway', ...options })('sandbox/echo'),
        createOpenAI(options).chat('sandbox/echo'),
      ]) {
        equal((await generateText({ model, prompt: 'Good morning' })).text, 'Good morning');
        await checkRecord();
      }
      const { apiKey, maxRetries, ...configuration } = options;
      const chat = new ChatOpenAI({ model: 'sandbox/echo', apiKey, maxRetries, configuration });
      equal((await chat.invoke('Good morning')).content, 'Good morning');
      await checkRecord();
    },
  };
}
