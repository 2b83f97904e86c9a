import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { APICallError, generateText, Output, RetryError, streamText, tool } from 'ai';
import { createGateway, fromAiSdk } from '../installed.mjs';
import { aiSdkChecks } from './ai-sdk.mjs';
import { checkCut } from './answers.mjs';
import { errorOf } from './check.mjs';
import { City, ToolInput, toolName, weatherIn } from './scenarios.mjs';
import { checkAskedOnce, checkRefusal, makeTenant } from './tenant.mjs';

/** Fields of each request, as docs/clients.md shows them. */
function modelWithSettings({ gateway }) {
  const model = gateway.languageModel('acme/fast', {
    models: ['sandbox/echo'],
    session_id: 'conversation-7',
  });
  return model;
}

/** The client writes warnings to the console. */
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Where it differs from the model of another package: who retries, and who asks. */
const ofKeys = /^errors:/;

/** @returns the checks of `ai` with `gateway.languageModel` */
export function languageModelChecks(service) {
  const { gateway } = service;
  const ask = (model, options) => {
    return { model: gateway.languageModel(model), prompt: 'Good morning', maxRetries: 0, ...options };
  };
  const partsOf = (options) => Array.fromAsync(streamText({ onError: () => undefined, ...options }).stream);
  const shared = Object.entries(aiSdkChecks(service, (slug) => gateway.languageModel(slug)));

  return {
    ...Object.fromEntries(shared.filter(([name]) => !ofKeys.test(name))),
    async 'settings of the model are fields of each request'() {
      equal(modelWithSettings(service).modelId, 'acme/fast');
      const headers = { 'x-service-metadata': 'enabled' };
      const settings = { models: ['sandbox/echo'], session_id: 's-1', headers };
      const model = gateway.languageModel('sandbox/error-500', settings);
      const { text, response, providerMetadata } = await generateText({ model, prompt: 'Good morning' });
      deepEqual([text, response.modelId], ['Good morning', 'sandbox/echo']);
      const { sessionId, id, costNanoUsd } = await service.nextRecord();
      deepEqual([sessionId, response.id], ['s-1', id]);
      const { generationId, cost, routing } = providerMetadata.gateway;
      deepEqual([generationId, cost, routing.attempt], [id, costNanoUsd / 1e9, 2]);
    },
    async 'files: bytes are sent, and addresses stay addresses'() {
      const content = [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71]) },
        { type: 'file', mediaType: 'image/png', data: new URL('https://pictures.invalid/cat.png') },
        { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: new Uint8Array([37, 80, 68, 70]) },
      ];
      const messages = [{ role: 'user', content }];
      await generateText({ model: gateway.languageModel('sandbox/echo'), messages });
      const { body } = await service.nextSent();
      deepEqual(body.messages[0].content.slice(1), [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
        { type: 'image_url', image_url: { url: 'https://pictures.invalid/cat.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
      ]);
    },
    async 'warnings: options for another provider, and a slip'() {
      const providerOptions = { openai: { store: false }, gateway: { sesion_id: 's' } };
      const { warnings } = await generateText(ask('sandbox/echo', { providerOptions }));
      equal(warnings[0].feature, 'providerOptions.openai');
      match(warnings[1].message, /session_id/);
    },
    async 'an approval: a call that its user denies is told to the model'() {
      const tools = {
        [toolName]: tool({ inputSchema: ToolInput, needsApproval: true, execute: ({ city }) => weatherIn(city) }),
      };
      const messages = [{ role: 'user', content: 'two cities' }];
      const first = await generateText({ model: gateway.languageModel('acme/fast'), messages, tools, maxRetries: 0 });
      const requests = first.content.filter(({ type }) => type === 'tool-approval-request');
      equal(requests.length, 2);
      const answers = requests.map(({ approvalId }, at) => {
        return { type: 'tool-approval-response', approvalId, approved: at === 0, reason: 'Not there' };
      });
      messages.push(...first.response.messages, { role: 'tool', content: answers });
      const { text } = await generateText({
        model: gateway.languageModel('acme/fast'),
        messages,
        tools,
        maxRetries: 0,
      });
      ok(text.includes(weatherIn('Oslo')) && text.includes('Not there'), text);
    },
    async 'a stream has the cost and the provider too'() {
      const result = streamText(ask('sandbox/lorem'));
      await result.consumeStream();
      const { cost, generationId } = (await result.providerMetadata).gateway;
      const { id, costNanoUsd } = await service.nextRecord();
      deepEqual([cost, generationId], [costNanoUsd / 1e9, id]);
    },
    async 'a user has its own workspace, permissions and budget'() {
      const { workspaceId, spend } = await makeTenant(service);
      const user = { permissions: ['inference'], workspaceId, userId: 'ada' };
      const model = gateway.as(user).languageModel('sandbox/echo');
      equal((await generateText({ model, prompt: 'Good morning' })).text, 'Good morning');
      const record = await service.nextRecord();
      deepEqual([record.workspaceId, record.userId, record.apiKeyHash], [workspaceId, 'ada', null]);
      await spend();
      for (const call of [
        () => errorOf(generateText({ model, prompt: 'Good morning' })),
        async () => (await partsOf({ model, prompt: 'Good morning' })).find(({ type }) => type === 'error').error,
      ]) {
        service.begin();
        const error = await call();
        ok(APICallError.isInstance(error));
        deepEqual([error.statusCode, error.isRetryable], [402, false]);
        checkRefusal(JSON.parse(error.responseBody).error);
        await checkAskedOnce(service);
      }
      const none = gateway.as({ permissions: ['management'] }).languageModel('sandbox/echo');
      equal((await errorOf(generateText({ model: none, prompt: 'Hi' }))).statusCode, 403);
    },
    async 'errors: an APICallError, which is not retried where the gateway has retried'() {
      for (const [model, options, status, message] of [
        ['sandbox/echo', { temperature: 9 }, 400, /temperature/],
        ['acme/nothing', {}, 400, /acme\/nothing/],
        ['sandbox/error-500', {}, 502, /./],
      ]) {
        service.begin();
        const error = await errorOf(generateText(ask(model, { ...options, maxRetries: 2 })));
        ok(APICallError.isInstance(error), String(error));
        deepEqual([error.statusCode, error.isRetryable], [status, false]);
        match(error.message, message);
      }
    },
    async 'errors: a rate limit that says when to try again is retried by the client'() {
      const error = await errorOf(generateText(ask('sandbox/rate-limited', { maxRetries: 1 })));
      ok(RetryError.isInstance(error) || APICallError.isInstance(error));
      const last = RetryError.isInstance(error) ? error.lastError : error;
      deepEqual([last.statusCode, last.isRetryable], [429, 'retry-after' in last.responseHeaders]);
    },
    async 'a stream that breaks off costs what came, and says so'() {
      const parts = await partsOf(ask('sandbox/cut-stream'));
      equal(parts.find(({ type }) => type === 'error').error.statusCode, 502);
      const finish = parts.at(-1);
      deepEqual([finish.type, finish.finishReason], ['finish', 'error']);
      await checkCut(service);
    },
    async 'as the provider of another gateway, it says the same'() {
      const second = createGateway({
        providers: { first: fromAiSdk({ slug: 'first', models: (slug) => gateway.languageModel(slug) }) },
        models: ['sandbox/reasoning', 'sandbox/json'].map((model) => {
          return { slug: `far/${model.slice(8)}`, endpoints: [{ provider: 'first', model }] };
        }),
        authenticate: 'host',
      });
      for (const call of [generateText, streamText]) {
        const near = call(ask('sandbox/reasoning'));
        const far = call({ ...ask('sandbox/reasoning'), model: second.languageModel('far/reasoning') });
        const read = async (result) => [await (await result).text, await (await result).reasoningText];
        deepEqual(await read(far), await read(near));
        ok((await read(far))[1].length > 0);
      }
      const output = Output.object({ schema: City, name: 'city' });
      City.parse((await generateText({ model: second.languageModel('far/json'), prompt: 'x', output })).output);
      await second.close();
    },
  };
}
