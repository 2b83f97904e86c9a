import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { AuditEntry } from '../../src/schema/records/audit.ts';
import { managementKey } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';

describe('PUT /workspaces/{slug}', () => {
  it('makes a workspace, named after its slug, and changes it the next time', async () => {
    const { manage } = tenantGateway();
    const made = await manage('PUT', '/workspaces/customer-7', {});
    expect([made.status, made.json.data]).toEqual([
      200,
      expect.objectContaining({ name: 'customer-7', slug: 'customer-7', updated_at: null }),
    ]);
    const again = await manage('PUT', '/workspaces/customer-7', { description: 'Pays well' });
    expect([again.status, again.json.data]).toEqual([
      200,
      { ...made.json.data, description: 'Pays well', updated_at: expect.any(String) },
    ]);
    const byId = await manage('PUT', `/workspaces/${made.json.data.id}`, { name: 'Seven', description: null });
    expect([byId.status, byId.json.data]).toMatchObject([
      200,
      { name: 'Seven', slug: 'customer-7', description: null },
    ]);
    expect((await manage('GET', '/workspaces')).json.total_count).toBe(2);
  });

  it('makes it with what is given', async () => {
    const { manage } = tenantGateway();
    const given = { name: 'Acme & Söhne', default_provider_sort: 'price', is_byok_only: true };
    const made = await manage('PUT', '/workspaces/acme', given);
    expect([made.status, made.json.data]).toMatchObject([200, { ...given, slug: 'acme', io_logging_sampling_rate: 1 }]);
  });

  it('changes the default workspace, which is always there', async () => {
    const { manage } = tenantGateway();
    expect((await manage('PUT', '/workspaces/default', { name: 'Ours' })).status).toBe(200);
  });

  it.each<[string, string, object, number, object]>([
    ['an id that nobody has', '00000000-0000-4000-8000-000000000009', {}, 404, {}],
    ['a slug that is none', 'No Slug', {}, 400, { issues: [{ path: 'id' }] }],
    ['a slug that is too long', 'a'.repeat(51), {}, 400, { issues: [{ path: 'id' }] }],
    ['another slug in the body', 'acme', { slug: 'other' }, 400, { issues: [{ path: 'slug' }] }],
    ['an empty name', 'acme', { name: '' }, 400, { issues: [{ path: 'name' }] }],
  ])('refuses %s, and makes nothing', async (_, name, body, status, metadata) => {
    const { manage } = tenantGateway();
    const refused = await manage('PUT', `/workspaces/${encodeURIComponent(name)}`, body);
    expect([refused.status, refused.json.error.metadata]).toMatchObject([status, metadata]);
    expect((await manage('GET', '/workspaces')).json.total_count).toBe(1);
  });

  it('of a key of one workspace changes that one, makes none, and tells of no other', async () => {
    const { manage } = tenantGateway();
    const { json } = await manage('PUT', '/workspaces/mine', {});
    await manage('PUT', '/workspaces/theirs', {});
    const { key } = (
      await manage('POST', '/keys', { name: 'k', permissions: ['management'], workspace_id: json.data.id })
    ).json;
    expect((await manage('PUT', '/workspaces/mine', { name: 'Mine' }, key)).status).toBe(200);
    const byokOnly = await manage('PUT', '/workspaces/mine', { is_byok_only: true }, key);
    expect(byokOnly.status).toBe(403);
    const [known, unknown] = [
      await manage('PUT', '/workspaces/theirs', {}, key),
      await manage('PUT', '/workspaces/nobodys', {}, key),
    ];
    expect([known.status, known.json]).toEqual([404, unknown.json]);
    expect((await manage('GET', '/workspaces/nobodys')).status).toBe(404);
  });

  it('of many at once, by several instances, makes one, and changes it', async () => {
    const store = new Keyv({ store: new Map() });
    const instances = Array.from({ length: 3 }, () =>
      createGateway({
        providers: { sandbox: {} },
        store,
        apiKeys: [{ key: managementKey, permissions: ['management'] }],
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        const response = await (instances[at % 3] as Gateway).fetch('http://gateway.test/v1/workspaces/acme', {
          method: 'PUT',
          headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ description: `${at}` }),
        });
        return { status: response.status, id: ((await response.json()) as { data: { id: string } }).data.id };
      }),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(Array(12).fill(200));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    for (const instance of instances) await instance.close();
  });

  it('is a function of the host app, and stands in the log of changes', async () => {
    const told: AuditEntry[] = [];
    const { gateway, run } = tenantGateway({ onAudit: (entry) => told.push(entry) });
    const { data } = await run(gateway.workspaces.put({ id: 'acme', name: 'Acme' }));
    expect(data).toMatchObject({ slug: 'acme', name: 'Acme' });
    await run(gateway.workspaces.put({ id: 'acme', name: 'Acme 2' }));
    expect(told).toMatchObject([
      { operation: 'upsertWorkspace', resource_type: 'workspace', outcome: 'done', before: null },
      { operation: 'upsertWorkspace', before: { name: 'Acme' }, after: { name: 'Acme 2' } },
    ]);
  });
});
