// The management surface of the SDK: every answer passes the SDK's own validation, or its call rejects.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { OpenRouter } from '@openrouter/sdk';
import { errorOf } from '../clients/check.mjs';
import { managementKey } from '../clients/service.mjs';

const ownKey = 'sk-workspace-0123456789abcdef';
const noId = '11111111-2222-4333-8444-555555555555';
const noHash = '0'.repeat(64);

/** @returns the checks of workspaces, budgets, provider credentials and keys */
export function managementChecks(service) {
  const clientOf = (apiKey) =>
    new OpenRouter({ apiKey, serverURL: service.baseURL, retryConfig: { strategy: 'none' } });
  const { workspaces, byok, apiKeys } = clientOf(managementKey);
  const createWorkspace = (createWorkspaceRequest, by = workspaces) => by.create({ createWorkspaceRequest });
  const createCredential = (createBYOKKeyRequest, by = byok) => by.create({ createBYOKKeyRequest });

  let made = 0;
  async function newWorkspace() {
    const { data } = await createWorkspace({ name: `Workspace ${++made}`, slug: `workspace-${made}` });
    return data;
  }

  return {
    async 'workspaces: create, get by id and by slug, update, delete'() {
      const { data: created } = await createWorkspace({
        name: 'Ünï',
        slug: 'uni',
        description: 'of tests',
        defaultTextModel: 'sandbox/echo',
        ioLoggingApiKeyIds: [1, 2],
        ioLoggingSamplingRate: 0.5,
        isObservabilityIoLoggingEnabled: true,
      });
      deepEqual(
        [created.name, created.slug, created.description, created.ioLoggingApiKeyIds, created.ioLoggingSamplingRate],
        ['Ünï', 'uni', 'of tests', [1, 2], 0.5],
      );
      match(created.createdBy, /^key:/);
      equal(created.updatedAt, null);
      for (const id of [created.id, 'uni']) deepEqual((await workspaces.get({ id })).data, created);
      const updateWorkspaceRequest = { name: 'Another', description: null, ioLoggingApiKeyIds: null };
      const { data: updated } = await workspaces.update({ id: 'uni', updateWorkspaceRequest });
      ok(Date.parse(updated.updatedAt) >= Date.parse(created.createdAt));
      deepEqual(updated, { ...created, ...updateWorkspaceRequest, updatedAt: updated.updatedAt });
      deepEqual((await workspaces.get({ id: created.id })).data, updated);
      deepEqual(await workspaces.delete({ id: created.id }), { deleted: true });
      equal((await errorOf(workspaces.get({ id: 'uni' }))).constructor.name, 'NotFoundResponseError');
    },
    async 'workspaces: list, page by page'() {
      const ids = [(await newWorkspace()).id, (await newWorkspace()).id, (await newWorkspace()).id];
      const pages = await Array.fromAsync(await workspaces.list({ limit: 2 }));
      const listed = pages.flatMap(({ result }) => result.data);
      const last = pages.at(-1).result.data.length;
      ok(pages.length > 1 && pages.slice(0, -1).every(({ result }) => result.data.length === 2) && last <= 2);
      equal(listed.length, pages[0].result.totalCount);
      deepEqual(
        listed.slice(-3).map(({ id }) => id),
        ids,
      );
      for (const id of ids) await workspaces.delete({ id });
    },
    async 'workspaces: what is wrong is its own class, and says what'() {
      for (const [request, name, message] of [
        [() => createWorkspace({ name: 'Bad', slug: 'Not A Slug' }), 'BadRequestResponseError', /slug/],
        [() => workspaces.get({ id: noId }), 'NotFoundResponseError', /workspace/],
        [
          () => workspaces.update({ id: noId, updateWorkspaceRequest: { name: 'x' } }),
          'NotFoundResponseError',
          /workspace/,
        ],
        [
          () => createWorkspace({ name: 'x', slug: 'x' }, clientOf(service.apiKey).workspaces),
          'ForbiddenResponseError',
          /management/,
        ],
        [() => clientOf('sk-wrong-0123456789').workspaces.get({ id: noId }), 'UnauthorizedResponseError', /API key/],
      ]) {
        const error = await errorOf(request());
        equal(error.constructor.name, name);
        match(error.error.message, message);
      }
    },
    async 'budgets: set, list, delete'() {
      const { id } = await newWorkspace();
      const set = (interval, limitUsd) =>
        workspaces.setBudget({ id, interval, upsertWorkspaceBudgetRequest: { limitUsd } });
      for (const interval of ['daily', 'weekly', 'monthly']) {
        const { data } = await set(interval, 12.5);
        deepEqual([data.workspaceId, data.limitUsd, data.resetInterval], [id, 12.5, interval]);
      }
      const { data: changed } = await set('daily', 20);
      equal(changed.limitUsd, 20);
      deepEqual(
        (await workspaces.listBudgets({ id })).data.map(({ limitUsd, resetInterval }) => [limitUsd, resetInterval]),
        [
          [20, 'daily'],
          [12.5, 'weekly'],
          [12.5, 'monthly'],
        ],
      );
      deepEqual(await workspaces.deleteBudget({ id, interval: 'daily' }), { deleted: true });
      equal((await workspaces.listBudgets({ id })).data.length, 2);
      const refused = await errorOf(set('daily', -1));
      deepEqual([refused.constructor.name, refused.error.code], ['BadRequestResponseError', 400]);
      equal((await errorOf(workspaces.listBudgets({ id: noId }))).constructor.name, 'NotFoundResponseError');
      await workspaces.delete({ id });
    },
    async 'budgets: of a lifetime'() {
      const { id } = await newWorkspace();
      const request = { id, interval: 'lifetime', upsertWorkspaceBudgetRequest: { limitUsd: 1 } };
      const { data } = await workspaces.setBudget(request);
      equal(data.resetInterval, null);
      equal((await workspaces.listBudgets({ id })).data[0].resetInterval, null);
      deepEqual(await workspaces.deleteBudget({ id, interval: 'lifetime' }), { deleted: true });
      await workspaces.delete({ id });
    },
    async 'byok: create, get, list, update, delete'() {
      const { id: workspaceId } = await newWorkspace();
      const { data: created } = await createCredential({
        provider: 'groq',
        key: ownKey,
        workspaceId,
        name: 'Groq',
        isFallback: true,
        allowedModels: ['acme/*'],
        allowedUserIds: null,
      });
      deepEqual(
        [created.provider, created.workspaceId, created.name, created.isFallback, created.disabled, created.sortOrder],
        ['groq', workspaceId, 'Groq', true, false, 0],
      );
      deepEqual([created.allowedModels, created.allowedUserIds, created.allowedApiKeyHashes], [['acme/*'], null, null]);
      ok(created.label.length > 0 && !created.label.includes(ownKey));
      deepEqual((await byok.get({ id: created.id })).data, created);
      const second = (await createCredential({ provider: 'mistral', key: ownKey, workspaceId })).data;
      const listed = async (request) => {
        const pages = await Array.fromAsync(await byok.list({ workspaceId, ...request }));
        return [pages[0].result.totalCount, pages.flatMap(({ result }) => result.data.map(({ id }) => id)).toSorted()];
      };
      deepEqual(await listed({}), [2, [created.id, second.id].toSorted()]);
      deepEqual(await listed({ limit: 1 }), [2, [created.id, second.id].toSorted()]);
      deepEqual(await listed({ provider: 'groq' }), [1, [created.id]]);
      const updateBYOKKeyRequest = { key: 'sk-another-fedcba9876543210', name: null, disabled: true };
      const { data: updated } = await byok.update({ id: created.id, updateBYOKKeyRequest });
      deepEqual([updated.name, updated.disabled, updated.isFallback], [null, true, true]);
      ok(updated.label !== created.label);
      deepEqual(await byok.delete({ id: created.id }), { deleted: true });
      equal((await errorOf(byok.get({ id: created.id }))).constructor.name, 'NotFoundResponseError');
      await workspaces.delete({ id: workspaceId });
    },
    async 'byok: what is wrong is its own class'() {
      for (const [request, name] of [
        [() => createCredential({ provider: 'no-such-company', key: ownKey }), 'BadRequestResponseError'],
        [() => byok.get({ id: noId }), 'NotFoundResponseError'],
        [() => byok.update({ id: noId, updateBYOKKeyRequest: { disabled: true } }), 'NotFoundResponseError'],
        [() => byok.delete({ id: noId }), 'NotFoundResponseError'],
        [
          () => createCredential({ provider: 'groq', key: ownKey }, clientOf(service.apiKey).byok),
          'ForbiddenResponseError',
        ],
      ]) {
        equal((await errorOf(request())).constructor.name, name);
      }
    },
    async 'keys: create, get, list, update, delete; each works as long as it may'() {
      const { id: workspaceId } = await newWorkspace();
      const expiresAt = new Date(Date.now() + 3_600_000);
      const { key, data: created } = await apiKeys.create({
        requestBody: {
          name: 'First',
          limit: 5,
          limitReset: 'monthly',
          includeByokInLimit: true,
          expiresAt,
          workspaceId,
        },
      });
      deepEqual(
        [created.name, created.limit, created.limitRemaining, created.limitReset, created.includeByokInLimit],
        ['First', 5, 5, 'monthly', true],
      );
      deepEqual([created.workspaceId, created.expiresAt, created.usage], [workspaceId, expiresAt, 0]);
      ok(!created.label.includes(key));
      const own = clientOf(key);
      const chatRequest = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Good morning' }] };
      const { usage } = await own.chat.send({ chatRequest });
      const { data: current } = await own.apiKeys.getCurrentKeyMetadata();
      deepEqual([current.label, current.limit, current.isManagementKey], [created.label, 5, false]);
      deepEqual([current.usage, current.usageMonthly, current.byokUsage], [usage.cost, usage.cost, 0]);
      const { data: got } = await apiKeys.get({ hash: created.hash });
      deepEqual([got.usage, got.limitRemaining.toFixed(9)], [usage.cost, (5 - usage.cost).toFixed(9)]);
      const second = (await apiKeys.create({ requestBody: { name: 'Second', workspaceId } })).data;
      const listed = async (request) => (await apiKeys.list({ workspaceId, ...request })).data.map(({ name }) => name);
      deepEqual(await listed({}), ['First', 'Second']);
      deepEqual(await listed({ offset: 1 }), ['Second']);
      const requestBody = { name: 'Renamed', disabled: true, limit: null, limitReset: null, includeByokInLimit: false };
      const { data: updated } = await apiKeys.update({ hash: created.hash, requestBody });
      deepEqual(
        [updated.name, updated.disabled, updated.limit, updated.limitRemaining, updated.limitReset],
        ['Renamed', true, null, null, null],
      );
      deepEqual(await listed({}), ['Second']);
      deepEqual(await listed({ includeDisabled: true }), ['Renamed', 'Second']);
      equal((await errorOf(own.chat.send({ chatRequest }))).constructor.name, 'UnauthorizedResponseError');
      for (const { hash } of [created, second]) deepEqual(await apiKeys.delete({ hash }), { deleted: true });
      equal((await errorOf(apiKeys.get({ hash: created.hash }))).constructor.name, 'NotFoundResponseError');
      await workspaces.delete({ id: workspaceId });
    },
    async 'keys: what is wrong is its own class'() {
      for (const [request, name] of [
        [() => apiKeys.create({ requestBody: { name: '' } }), 'BadRequestResponseError'],
        [() => apiKeys.create({ requestBody: { name: 'x', limit: -1 } }), 'BadRequestResponseError'],
        [() => apiKeys.get({ hash: noHash }), 'NotFoundResponseError'],
        [() => apiKeys.update({ hash: noHash, requestBody: { disabled: true } }), 'NotFoundResponseError'],
        [() => apiKeys.delete({ hash: noHash }), 'NotFoundResponseError'],
        [() => clientOf(service.apiKey).apiKeys.create({ requestBody: { name: 'x' } }), 'ForbiddenResponseError'],
      ]) {
        equal((await errorOf(request())).constructor.name, name);
      }
    },
    async 'keys: the current one may be one of the gateway’s options'() {
      const { data } = await apiKeys.getCurrentKeyMetadata();
      deepEqual(
        [data.isManagementKey, data.isProvisioningKey, data.limit, data.limitRemaining],
        [true, true, null, null],
      );
    },
  };
}
