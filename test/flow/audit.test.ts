import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { audited } from '../../src/operations/audit/audited.ts';
import { operations } from '../../src/operations/index.ts';
import type { AuditEntry } from '../../src/schema/records/audit.ts';
import { testGateway } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const providerKey = 'gsk-secret-of-the-audit-0123456789';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('the audit log', () => {
  it('has an entry type for every management operation that changes something', () => {
    const all = operations({ brand: 'gateway', bounds: {}, pipeline: {}, byokProviders: new Map() } as never);
    const changing = all.filter(({ method, permissions }) => method !== 'GET' && permissions.includes('management'));
    const bare = changing.filter((one) => audited({ auditLog: {} } as never, [one])[0] === one);
    expect(changing.length).toBeGreaterThan(15);
    // These only read, or change what requests have left.
    expect(bare.map(({ name }) => name).toSorted()).toEqual([
      'createConversation',
      'createConversationItems',
      'deleteConversation',
      'deleteConversationItem',
      'deleteResponse',
      'explainChatCompletion',
      'explainCompletion',
      'explainContent',
      'explainDecisions',
      'explainEmbeddings',
      'explainImage',
      'explainImageEdits',
      'explainImages',
      'explainMessage',
      'explainModerations',
      'explainRerank',
      'explainResponse',
      'explainSpeech',
      'explainTranscription',
      'explainTranslation',
      'updateConversation',
    ]);
  });

  it('holds what the host app changes by functions that are no operation', async () => {
    const told: AuditEntry[] = [];
    const { gateway, run, call } = testGateway({ secrets, onAudit: (entry) => told.push(entry) });
    const { record } = await run(gateway.apiKeys.create({ name: 'Of the host', limitNanoUsd: 1_000_000_000 }));
    await run(gateway.apiKeys.setDisabled(record.hash, true));
    await run(gateway.apiKeys.setDisabled(record.hash, true));
    await run(gateway.credentials.rotate());
    expect(await run(gateway.apiKeys.delete(record.hash))).toBe(true);
    expect(await run(gateway.apiKeys.delete(record.hash))).toBe(false);
    expect(await run(gateway.apiKeys.setDisabled('f'.repeat(64), true))).toBeNull();
    await expect(run(gateway.apiKeys.create({ name: '' }))).rejects.toMatchObject({ status: 400 });
    const key = { resource_type: 'api_key', resource_id: record.hash, outcome: 'done', actor: { type: 'operator' } };
    const expected = [
      { ...key, operation: 'createKeys', before: null, after: { name: 'Of the host', limit: 1 } },
      { ...key, operation: 'updateKeys', before: { disabled: false }, after: { disabled: true } },
      { ...key, operation: 'updateKeys', before: {}, after: {} },
      { operation: 'rotateCredentials', resource_type: 'byok', resource_id: null, after: { checked: 0, resealed: 0 } },
      { ...key, operation: 'deleteKeys', before: { name: 'Of the host' }, after: null },
    ];
    expect(told).toMatchObject(expected);
    const { json } = await call('GET', '/audit');
    expect(json.data.toReversed()).toMatchObject(expected);
  });

  it('holds who, what and the changed fields alone, and no secret', async () => {
    const told: AuditEntry[] = [];
    const test = testGateway({ audit: { enabled: true }, secrets, onAudit: (entry) => told.push(entry) });
    const made = (await test.call('POST', '/keys', { name: 'One' })).json;
    await test.call('PATCH', `/keys/${made.data.hash}`, { name: 'Two' }, { 'x-request-id': 'req-7' });
    const byok = (await test.call('POST', '/byok', { provider: 'groq', key: providerKey })).json.data;
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 2 });
    await test.call('DELETE', '/workspaces/default/budgets/daily');
    await test.call('DELETE', '/workspaces/default/budgets/daily');
    await test.call('PATCH', `/keys/${'f'.repeat(64)}`, { name: 'Nobody' });
    const { json } = await test.call('GET', '/audit');
    expect(json.total_count).toBe(6);
    const [removed, raised, set, sealed, renamed, created] = json.data as AuditEntry[];
    expect(created).toMatchObject({
      operation: 'createKeys',
      resource_type: 'api_key',
      resource_id: made.data.hash,
      workspace_id: defaultWorkspaceId,
      outcome: 'done',
      before: null,
      after: { name: 'One' },
    });
    expect(renamed).toMatchObject({ operation: 'updateKeys', request_id: 'req-7' });
    expect([renamed?.before, renamed?.after]).toEqual([{ name: 'One' }, { name: 'Two' }]);
    expect(sealed).toMatchObject({ resource_type: 'byok', resource_id: byok.id });
    expect(sealed?.after?.key_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(set).toMatchObject({ resource_type: 'budget', resource_id: 'daily', before: null });
    expect([raised?.before, raised?.after]).toEqual([{ limit_usd: 1 }, { limit_usd: 2 }]);
    expect(removed).toMatchObject({ operation: 'deleteWorkspaceBudget', before: { limit_usd: 2 }, after: null });
    expect(told.toReversed()).toEqual(json.data);
    expect(JSON.stringify([json, told])).not.toContain(providerKey);
    expect(JSON.stringify([json, told])).not.toContain(made.key);
    const filtered = async (query: string) => (await test.call('GET', `/audit?${query}`)).json.total_count;
    expect(await filtered('operation=updateKeys')).toBe(1);
    expect(await filtered('resource_type=budget')).toBe(3);
    expect(await filtered(`resource_id=${made.data.hash}&offset=1`)).toBe(2);
    expect(await filtered('to=2001-01-01T00:00:00Z')).toBe(0);
    expect((await test.call('GET', '/audit?from=yesterday')).status).toBe(400);
  });

  it('shows keys that a guardrail is assigned to', async () => {
    const test = testGateway({ audit: { enabled: true } });
    const { data } = (await test.call('POST', '/keys', { name: 'One' })).json;
    const { id } = (await test.call('POST', '/guardrails', { name: 'G' })).json.data;
    await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
    const [entry] = (await test.call('GET', '/audit?operation=bulkAssignKeysToGuardrail')).json.data;
    expect([entry.before, entry.after]).toEqual([{ key_hashes: [] }, { key_hashes: [data.hash] }]);
  });

  it('shows a tenant its own workspace alone, and no key or user of an operator', async () => {
    const test = tenantGateway({ audit: { enabled: true } });
    const tenant = async (slug: string) => {
      const id = await test.workspace(slug);
      return { id, manager: await test.key({ name: slug, workspace_id: id, permissions: ['management'] }) };
    };
    const acme = await tenant('acme');
    const rival = await tenant('rival');
    await test.call('POST', '/guardrails', { name: 'Mine' }, bearer(acme.manager.key));
    const seen = (await test.call('GET', '/audit', undefined, bearer(acme.manager.key))).json;
    expect(seen.data.map(({ operation }: AuditEntry) => operation)).toEqual([
      'createGuardrail',
      'createKeys',
      'createWorkspace',
    ]);
    expect(seen.data[0].actor.api_key_hash).toBe(acme.manager.hash);
    expect(seen.data[1].actor).toEqual({ type: 'operator', api_key_hash: null, user_id: null, workspace_id: null });
    expect(JSON.stringify(seen)).not.toContain(rival.id);
    const other = await test.call('GET', `/audit?workspace_id=${rival.id}`, undefined, bearer(acme.manager.key));
    expect(other.status).toBe(404);
  });

  it('loses and doubles nothing with two instances on one store, and after a restart', async () => {
    const adapter = new Map();
    const open = () => testGateway({ audit: { enabled: true }, store: new Keyv({ store: adapter }) });
    const [one, two] = [open(), open()];
    for (let at = 0; at < 10; at++)
      await Promise.all([one, two].map((test, of) => test.call('POST', '/guardrails', { name: `${of}-${at}` })));
    const { json } = await open().call('GET', '/audit?limit=100');
    expect(json.total_count).toBe(20);
    expect(new Set(json.data.map(({ after }: AuditEntry) => after?.name)).size).toBe(20);
  });

  it('keeps as many entries as it may', async () => {
    const test = testGateway({ audit: { enabled: true, maxEntries: 3 } });
    for (let at = 0; at < 6; at++) await test.call('POST', '/guardrails', { name: `${at}` });
    const { json } = await test.call('GET', '/audit');
    expect(json.data.map(({ after }: AuditEntry) => after?.name)).toEqual(['5', '4', '3']);
  });

  it('keeps what an operator has changed, and what another tenant has, however much a tenant changes', async () => {
    const test = tenantGateway({ audit: { enabled: true, maxEntries: 4 } });
    const tenant = async (slug: string) => {
      const id = await test.workspace(slug);
      return { id, ...(await test.key({ name: slug, workspace_id: id, permissions: ['management'] })) };
    };
    const [loud, quiet] = [await tenant('loud'), await tenant('quiet')];
    await test.call('POST', '/guardrails', { name: 'quiet' }, bearer(quiet.key));
    for (let at = 0; at < 9; at++) await test.call('POST', '/guardrails', { name: `${at}` }, bearer(loud.key));
    const list = async (query: string) => {
      const { json } = await test.call('GET', `/audit?limit=100${query}`);
      return [json.total_count, json.data.filter(({ actor }: AuditEntry) => actor.type === 'operator').length];
    };
    expect(await list('')).toEqual([4 + 1 + 4, 4]);
    expect(await list(`&workspace_id=${loud.id}`)).toEqual([4 + 2, 2]);
    expect(await list(`&workspace_id=${quiet.id}`)).toEqual([1 + 2, 2]);
  });

  it('loses nothing to requests that are refused, however many come at once', async () => {
    const test = testGateway({ audit: { enabled: true, maxEntries: 3 } });
    for (let at = 0; at < 3; at++) await test.call('POST', '/guardrails', { name: `${at}` });
    const unknown = `/keys/${'f'.repeat(64)}`;
    await Promise.all(Array.from({ length: 20 }, () => test.call('PATCH', unknown, { name: 'X' })));
    const { json } = await test.call('GET', '/audit');
    expect(json.data.map(({ after }: AuditEntry) => after?.name)).toEqual(['2', '1', '0']);
  });

  it('names a workspace by its id, also where the path has its slug', async () => {
    const test = testGateway({ audit: { enabled: true } });
    await test.call('PATCH', '/workspaces/default', { description: 'Ours' });
    const { json } = await test.call('GET', `/audit?resource_id=${defaultWorkspaceId}`);
    expect(json.data).toMatchObject([{ operation: 'updateWorkspace', resource_id: defaultWorkspaceId }]);
  });

  it('is off where nobody asks for it, and says so', async () => {
    const test = testGateway();
    expect((await test.call('POST', '/guardrails', { name: 'G' })).status).toBe(201);
    const { status, json } = await test.call('GET', '/audit');
    expect([status, json.error.message]).toEqual([404, expect.stringContaining('audit.enabled')]);
  });

  it('is not slowed or failed by a sink that throws', async () => {
    const onAudit = () => {
      throw new Error('of the sink');
    };
    expect(
      (await testGateway({ audit: { enabled: true }, onAudit }).call('POST', '/guardrails', { name: 'G' })).status,
    ).toBe(201);
  });
});
