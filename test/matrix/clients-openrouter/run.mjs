// The clients of a public router, unmodified, against a gateway that bears its brand.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { APICallError, generateText, streamText } from 'ai';
import { checkLeaving, checkUsage } from '../clients/answers.mjs';
import { errorOf, finish, runChecks } from '../clients/check.mjs';
import { startService } from '../clients/service.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from '../clients/tenant.mjs';
import { listed, listingChecks } from './listings.mjs';
import { managementChecks } from './management.mjs';
import { responsesChecks } from './responses.mjs';

const service = await startService({
  options: { compat: 'openrouter', records: { enabled: true, flushMs: 10 }, ...listed },
});
await runChecks('@openrouter/sdk', sdkChecks(sdk(service)), service.begin);
await runChecks('@openrouter/sdk', managementChecks(service), service.begin);
await runChecks('@openrouter/sdk', listingChecks(service), service.begin);
await runChecks('@openrouter/sdk', responsesChecks(service), service.begin);
await runChecks('@openrouter/ai-sdk-provider', providerChecks(aiProvider(service)), service.begin);
await runChecks('@openrouter/ai-sdk-provider in process', inProcessChecks(service), service.begin);
await service.close();
finish('clients-openrouter');

function sdk({ baseURL, apiKey }) {
  const client = new OpenRouter({ apiKey, serverURL: baseURL, retryConfig: { strategy: 'none' } });
  return client;
}

function inProcessChecks({ gateway, nextRecord }) {
  return {
    async 'acts for a user without a key'() {
      const user = { permissions: ['inference'], userId: 'ada' };
      const openrouter = createOpenRouter(gateway.as(user).clientOptions());
      const { text } = await generateText({ model: openrouter('sandbox/echo'), prompt: 'Good morning' });
      const { userId, apiKeyHash } = await nextRecord();
      deepEqual([text, userId, apiKeyHash], ['Good morning', 'ada', null]);
    },
  };
}

function aiProvider({ baseURL, apiKey }) {
  const openrouter = createOpenRouter({ apiKey, baseURL });
  return openrouter;
}

function sdkChecks(client) {
  const messages = [{ role: 'user', content: 'Good morning' }];
  const send = (chatRequest, options) => client.chat.send({ chatRequest: { messages, ...chatRequest } }, options);
  const chunksOf = async (chatRequest) => Array.fromAsync(await send({ ...chatRequest, stream: true }));
  const textOf = (chunks) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  return {
    async 'chat: text, finish reason, usage and cost pass its checks'() {
      const answer = await send({ model: 'sandbox/echo' });
      deepEqual([answer.choices[0].message.content, answer.choices[0].finishReason], ['Good morning', 'stop']);
      ok(answer.usage.cost > 0);
      await checkUsage(service, usageOf(answer.usage));
    },
    async 'stream: text, finish reason and usage pass its checks'() {
      const chunks = await chunksOf({ model: 'sandbox/lorem' });
      match(textOf(chunks), /^This is the sandbox/);
      equal(chunks.findLast(({ choices }) => choices.length > 0).choices[0].finishReason, 'stop');
      await checkUsage(service, usageOf(chunks.at(-1).usage));
    },
    async 'every answer of the sandbox passes its checks'() {
      const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
      for (const model of ['tool-call', 'json', 'reasoning', 'refusal', 'content-filter', 'no-usage', 'free']) {
        const body = { model: `sandbox/${model}`, ...(model === 'tool-call' ? { tools } : {}) };
        equal((await send(body)).model, body.model);
        ok((await chunksOf(body)).length > 1);
      }
    },
    async 'routing metadata: under the brand, as JSON and on the last chunk'() {
      const ask = (stream) => ({
        xOpenRouterMetadata: 'enabled',
        chatRequest: { messages, model: 'sandbox/error-500', models: ['sandbox/echo'], stream },
      });
      const answer = await client.chat.send(ask(false));
      const chunks = await Array.fromAsync(await client.chat.send(ask(true)));
      for (const { openrouterMetadata: metadata } of [answer, chunks.at(-1)]) {
        deepEqual([metadata.requested, metadata.strategy, metadata.attempt], ['sandbox/error-500', 'fallback', 2]);
        deepEqual(
          metadata.attempts.map(({ status }) => status),
          [500, 200],
        );
      }
    },
    async 'abort in the middle of a stream'() {
      await checkLeaving(service, async () => {
        const stop = new AbortController();
        const body = { model: 'sandbox/lorem', stream: true, maxTokens: 4000 };
        const chunks = (await send(body, { signal: stop.signal }))[Symbol.asyncIterator]();
        await chunks.next();
        return async () => {
          stop.abort();
          // The client throws, or ends the stream without a word, as it happens to be reading. The record tells. But it
          // sends a clone of its request, whose signal Node forgets once the original is collected: it then reads on.
          const rest = await restOf(chunks).catch(() => []);
          return !rest.some(({ choices }) => choices[0]?.finishReason);
        };
      });
    },
    async 'leaving the loop in the middle of a stream'() {
      await checkLeaving(service, async () => {
        const chunks = (await send({ model: 'sandbox/lorem', stream: true }))[Symbol.asyncIterator]();
        await chunks.next();
        return async () => void (await chunks.return());
      });
    },
    async 'errors: each its own class'() {
      for (const [model, name, status] of [
        ['sandbox/error-400', 'BadRequestResponseError', 400],
        ['sandbox/error-404', 'NotFoundResponseError', 404],
        ['sandbox/rate-limited', 'TooManyRequestsResponseError', 429],
        ['sandbox/error-500', 'BadGatewayResponseError', 502],
        ['sandbox/overloaded', 'ProviderOverloadedResponseError', 529],
      ]) {
        const error = await errorOf(send({ model }));
        deepEqual([error.constructor.name, error.statusCode, error.error.code], [name, status, status]);
      }
      const stranger = new OpenRouter({ apiKey: 'sk-wrong-0123456789', serverURL: service.baseURL });
      const refused = await errorOf(stranger.chat.send({ chatRequest: { model: 'sandbox/echo', messages } }));
      equal(refused.constructor.name, 'UnauthorizedResponseError');
    },
    async 'a budget that is spent is its own class, and not retried'() {
      const tenant = await makeTenant(service);
      // With the retries that the client has by itself.
      const own = new OpenRouter({ apiKey: tenant.apiKey, serverURL: service.baseURL });
      const ask = (stream) => own.chat.send({ chatRequest: { model: 'sandbox/echo', messages, stream } });
      equal((await ask(false)).choices[0].message.content, 'Good morning');
      await tenant.spend();
      for (const stream of [false, true]) {
        service.begin();
        const error = await errorOf(ask(stream));
        deepEqual([error.constructor.name, error.statusCode], ['PaymentRequiredResponseError', 402]);
        checkRefusal(error.error);
        await checkAskedOnce(service);
      }
    },
    async 'a stream that breaks off: a chunk with an error, which does not throw'() {
      for (const model of ['sandbox/cut-stream', 'sandbox/error-mid-stream']) {
        const last = (await chunksOf({ model })).at(-1);
        deepEqual([last.error.code, last.choices[0].finishReason], [502, 'error']);
      }
    },
  };
}

function providerChecks(provider) {
  const ask = (model, options) => ({ model: provider(model), prompt: 'Good morning', maxRetries: 0, ...options });
  return {
    async 'chat: text, finish reason, usage and cost'() {
      const { text, finishReason, usage, providerMetadata } = await generateText(ask('sandbox/echo'));
      deepEqual([text, finishReason], ['Good morning', 'stop']);
      deepEqual([providerMetadata.openrouter.provider, providerMetadata.openrouter.usage.cost > 0], ['Sandbox', true]);
      await checkUsage(service, usageOf(usage));
    },
    async 'stream: text, reasoning, finish reason, usage and cost'() {
      const result = streamText(ask('sandbox/reasoning'));
      match(await result.text, /^This is the sandbox/);
      match(await result.reasoningText, /does not think/);
      equal(await result.finishReason, 'stop');
      ok((await result.providerMetadata).openrouter.usage.cost > 0);
      await checkUsage(service, usageOf(await result.usage));
    },
    async 'fallback: a list of models in the settings'() {
      const model = provider('sandbox/error-500', { models: ['sandbox/echo'] });
      equal((await generateText(ask('', { model }))).text, 'Good morning');
    },
    async 'errors: an APICallError with status and message'() {
      const error = await errorOf(generateText(ask('sandbox/error-400')));
      ok(APICallError.isInstance(error));
      deepEqual([error.statusCode, error.message.includes('sandbox/error-400')], [400, true]);
    },
    async 'errors: a budget that is spent is a 402, which the client does not retry'() {
      const tenant = await makeTenant(service);
      const options = { model: aiProvider({ ...service, apiKey: tenant.apiKey })('sandbox/echo'), prompt: 'Hi' };
      equal((await generateText(options)).text, 'Hi');
      await tenant.spend();
      for (const askOwn of [
        () => errorOf(generateText(options)),
        async () => {
          const parts = await Array.fromAsync(streamText({ ...options, onError: () => undefined }).fullStream);
          return parts.find(({ type }) => type === 'error').error;
        },
      ]) {
        service.begin();
        const error = await askOwn();
        ok(APICallError.isInstance(error));
        deepEqual([error.statusCode, error.isRetryable], [402, false]);
        checkRefusal(JSON.parse(error.responseBody).error);
        await checkAskedOnce(service);
      }
    },
    async 'a stream that breaks off has an error part and finishes with "error"'() {
      for (const model of ['sandbox/cut-stream', 'sandbox/error-mid-stream']) {
        const { fullStream } = streamText(ask(model, { onError: () => undefined }));
        const parts = await Array.fromAsync(fullStream);
        ok(parts.some(({ type }) => type === 'error'));
        equal(parts.at(-1).finishReason, 'error');
      }
    },
  };
}

/** What is left of an iterator that was begun. */
function restOf(chunks) {
  return Array.fromAsync({ [Symbol.asyncIterator]: () => chunks });
}

function usageOf({ promptTokens, completionTokens, inputTokens, outputTokens, totalTokens }) {
  return { input: promptTokens ?? inputTokens, output: completionTokens ?? outputTokens, total: totalTokens };
}
