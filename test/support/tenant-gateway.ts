import { expect } from 'vitest';
import { countModels } from '../../src/operations/count-models.ts';
import { createApiKey } from '../../src/operations/create-api-key.ts';
import { createWorkspace } from '../../src/operations/create-workspace.ts';
import { deleteApiKey } from '../../src/operations/delete-api-key.ts';
import { deleteBudget } from '../../src/operations/delete-budget.ts';
import { deleteWorkspace } from '../../src/operations/delete-workspace.ts';
import { getApiKey } from '../../src/operations/get-api-key.ts';
import { getBudget } from '../../src/operations/get-budget.ts';
import { getCurrentKey } from '../../src/operations/get-current-key.ts';
import { getModel } from '../../src/operations/get-model.ts';
import { getWorkspace } from '../../src/operations/get-workspace.ts';
import { listApiKeys } from '../../src/operations/list-api-keys.ts';
import { listBudgets } from '../../src/operations/list-budgets.ts';
import { listModelEndpoints } from '../../src/operations/list-model-endpoints.ts';
import { listModels } from '../../src/operations/list-models.ts';
import { listProviders } from '../../src/operations/list-providers.ts';
import { listUserModels } from '../../src/operations/list-user-models.ts';
import { listWorkspaces } from '../../src/operations/list-workspaces.ts';
import { listZdrEndpoints } from '../../src/operations/list-zdr-endpoints.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { putBudget } from '../../src/operations/put-budget.ts';
import { updateApiKey } from '../../src/operations/update-api-key.ts';
import { updateWorkspace } from '../../src/operations/update-workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { endpointStatuses } from '../../src/schema/endpoint.ts';
import { asZod } from '../../src/schema/schema.ts';
import { checkError } from './answer.ts';
import { type CallAnswer, managementKey, type TestGateway, testGateway } from './gateway.ts';
import { sharedAvailable, validateAnswerAgainstReference } from './reference.ts';

/** What they need is used when they run, which they do not here. */
const operations: Operation[] = [
  createWorkspace,
  listWorkspaces,
  getWorkspace,
  updateWorkspace,
  deleteWorkspace,
  listBudgets,
  getBudget,
  putBudget,
  deleteBudget,
  createApiKey,
  listApiKeys,
  getApiKey,
  updateApiKey,
  deleteApiKey,
  getCurrentKey,
  listModels,
  listUserModels,
  countModels,
  getModel,
  listModelEndpoints,
  listZdrEndpoints,
  listProviders,
].map((make) => make({} as never) as Operation);

export interface TenantGateway extends TestGateway {
  /**
   * A management request, made at once and without moving the clock, so that many can be in flight together. Every
   * answer is checked: a success against the schemas of its operation, ours and the reference's, an error against the
   * envelope.
   */
  manage(method: string, path: string, body?: unknown, key?: string | null): Promise<CallAnswer>;
  /** Makes a workspace. @returns its id */
  workspace(slug: string): Promise<string>;
  /** Makes a key. @returns the key and its hash */
  key(fields?: object): Promise<{ key: string; hash: string }>;
}

export function tenantGateway(options: Partial<GatewayOptions> = {}): TenantGateway {
  const tested = testGateway(options);
  const manage: TenantGateway['manage'] = async (method, path, body, key = managementKey) => {
    const response = await tested.gateway.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = JSON.parse(text);
    expect(response.headers.get('content-type')).toBe('application/json');
    if (response.ok) checkSuccess(method, path.replace(/\?.*/, ''), response.status, json);
    else checkError(response.status, json);
    return { status: response.status, headers: response.headers, text, json };
  };
  return {
    ...tested,
    manage,
    async workspace(slug) {
      return (await manage('POST', '/workspaces', { name: slug, slug })).json.data.id;
    },
    async key(fields = {}) {
      const { json } = await manage('POST', '/keys', { name: 'Test', ...fields });
      return { key: json.key, hash: json.data.hash };
    },
  };
}

function checkSuccess(method: string, path: string, status: number, json: unknown): void {
  const parts = path.split('/');
  const operation = operations.find((one) => {
    const pattern = one.path.split('/');
    return (
      one.method === method &&
      pattern.length === parts.length &&
      pattern.every((part, at) => part.startsWith(':') || part === parts[at])
    );
  });
  expect(operation).toBeDefined();
  // Ours are not strict: nothing may be there that they do not say.
  expect(operation && asZod(operation.result()).parse(json)).toEqual(json);
  if (!sharedAvailable) return;
  const described = `${method.toLowerCase()} ${operation?.path.replace(/:(\w+)/g, '{$1}')}`;
  const found = validateAnswerAgainstReference(described, status, asReference(json));
  if (!laterThanReference.has(described)) expect(found).not.toBeNull();
  expect(found ?? []).toEqual([]);
}

/** Of a later version than the document. */
const laterThanReference = new Set(['get /workspaces/{id}/budgets/{interval}', 'get /model/{author}/{slug}']);

/**
 * The two differences: the contract calls the interval of a lifetime by its name, the reference null; the status of an
 * endpoint is a word in the contract, a number in the reference. Providers of a test's own are on nobody's list.
 */
function asReference(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (key, value) => {
    if (key === 'reset_interval' && value === 'lifetime') return null;
    if (key === 'status' && endpointStatuses.some((status) => status === value)) return 0;
    if (key === 'provider_name' && ownProviders.has(value)) return 'FakeProvider';
    return value;
  });
}

const ownProviders = new Set(['Up', 'Alt', 'Sandbox']);
