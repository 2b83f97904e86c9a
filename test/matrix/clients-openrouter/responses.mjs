// Responses, records and guardrails through the SDK: every answer passes the SDK's own validation, or its call rejects.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { OpenRouter } from '@openrouter/sdk';
import { errorOf } from '../clients/check.mjs';
import { managementKey } from '../clients/service.mjs';

/** @returns the checks of Responses, of records and of guardrails */
export function responsesChecks(service) {
  const clientOf = (apiKey) =>
    new OpenRouter({ apiKey, serverURL: service.baseURL, retryConfig: { strategy: 'none' } });
  const client = clientOf(service.apiKey);
  const manager = clientOf(managementKey);
  const send = (body) => client.beta.responses.send({ responsesRequest: { input: 'Good morning', ...body } });
  const eventsOf = async (body) => Array.fromAsync(await send({ ...body, stream: true }));
  const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }];
  const textOf = ({ output }) => output.flatMap(({ content = [] }) => content.map(({ text = '' }) => text)).join('');

  return {
    async 'responses: text, status and usage'() {
      const response = await send({ model: 'sandbox/echo' });
      deepEqual([response.status, textOf(response)], ['completed', 'Good morning']);
      ok(response.usage.cost > 0);
      equal(response.usage.totalTokens, response.usage.inputTokens + response.usage.outputTokens);
    },
    async 'responses: a stream from its first event to the complete response'() {
      const events = await eventsOf({ model: 'sandbox/lorem' });
      equal(events[0].type, 'response.created');
      const text = events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('');
      match(text, /^This is the sandbox/);
      const last = events.at(-1);
      deepEqual([last.type, textOf(last.response)], ['response.completed', text]);
    },
    async 'responses: every answer of the sandbox passes its checks'() {
      for (const [model, types] of [
        ['tool-call', ['function_call']],
        ['json', ['message']],
        ['reasoning', ['reasoning', 'message']],
        ['refusal', ['message']],
        ['content-filter', ['message']],
        ['no-usage', ['message']],
        ['free', ['message']],
      ]) {
        const body = { model: `sandbox/${model}`, ...(model === 'tool-call' ? { tools } : {}) };
        deepEqual([model, (await send(body)).output.map(({ type }) => type)], [model, types]);
        match((await eventsOf(body)).at(-1).type, /^response\.(?:completed|incomplete)$/);
      }
    },
    async 'responses: errors, each its own class'() {
      for (const [model, name] of [
        ['sandbox/error-400', 'BadRequestResponseError'],
        ['sandbox/error-404', 'NotFoundResponseError'],
        ['sandbox/rate-limited', 'TooManyRequestsResponseError'],
        ['sandbox/error-500', 'BadGatewayResponseError'],
        ['sandbox/overloaded', 'ProviderOverloadedResponseError'],
      ])
        for (const ask of [send, eventsOf]) equal((await errorOf(ask({ model }))).constructor.name, name);
    },
    async 'responses: a stream that breaks off ends with response.failed'() {
      for (const model of ['sandbox/cut-stream', 'sandbox/error-mid-stream'])
        equal((await eventsOf({ model })).at(-1).type, 'response.failed');
    },
    async 'records: one request, its content, and the sums'() {
      await manager.workspaces.update({
        id: 'default',
        updateWorkspaceRequest: { isObservabilityIoLoggingEnabled: true },
      });
      const messages = [{ role: 'user', content: 'Good morning' }];
      const { id } = await client.chat.send({ chatRequest: { model: 'sandbox/echo', messages } });
      const { data } = await client.generations.getGeneration({ id });
      deepEqual([data.id, data.finishReason, data.totalCost > 0], [id, 'stop', true]);
      const { data: content } = await client.generations.listGenerationContent({ id });
      deepEqual([content.input.messages, content.output.completion], [messages, 'Good morning']);
      const { data: sums } = await manager.analytics.getUserActivity({});
      ok(sums.some(({ model, requests }) => model === 'sandbox/echo' && requests > 0));
    },
    async 'guardrails: make, list, change, assign to a key, take back and delete'() {
      const budget = { limitUsd: 5, resetInterval: 'daily' };
      const { data: made } = await manager.guardrails.create({
        createGuardrailRequest: { name: 'Spending', ...budget },
      });
      deepEqual([made.limitUsd, made.resetInterval], [5, 'daily']);
      const { id } = made;
      const { result } = await manager.guardrails.list({});
      ok(result.data.some((one) => one.id === id));
      const changed = await manager.guardrails.update({ id, updateGuardrailRequest: { limitUsd: 6 } });
      equal(changed.data.limitUsd, 6);
      equal((await manager.guardrails.get({ id })).data.limitUsd, 6);
      const { data: key } = await manager.apiKeys.create({ requestBody: { name: 'Limited' } });
      const keys = { keyHashes: [key.hash] };
      equal((await manager.guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: keys })).assignedCount, 1);
      const { result: assigned } = await manager.guardrails.listGuardrailKeyAssignments({ id });
      deepEqual(
        assigned.data.map(({ keyHash, keyName, guardrailId }) => [keyHash, keyName, guardrailId]),
        [[key.hash, 'Limited', id]],
      );
      equal((await manager.guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: keys })).unassignedCount, 1);
      equal((await manager.guardrails.delete({ id })).deleted, true);
      await manager.apiKeys.delete({ hash: key.hash });
    },
  };
}
