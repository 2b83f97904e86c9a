import { expect } from 'vitest';
import { createApiKey } from '../../src/operations/api-keys/create.ts';
import { deleteApiKey } from '../../src/operations/api-keys/delete.ts';
import { getApiKey } from '../../src/operations/api-keys/get.ts';
import { getCurrentKey } from '../../src/operations/api-keys/get-current.ts';
import { listApiKeys } from '../../src/operations/api-keys/list.ts';
import { updateApiKey } from '../../src/operations/api-keys/update.ts';
import { deleteBudget } from '../../src/operations/budgets/delete.ts';
import { getBudget } from '../../src/operations/budgets/get.ts';
import { listBudgets } from '../../src/operations/budgets/list.ts';
import { putBudget } from '../../src/operations/budgets/put.ts';
import { countModels } from '../../src/operations/models/count.ts';
import { getModel } from '../../src/operations/models/get.ts';
import { listModels } from '../../src/operations/models/list.ts';
import { listAllEndpoints } from '../../src/operations/models/list-all-endpoints.ts';
import { listModelEndpoints } from '../../src/operations/models/list-endpoints.ts';
import { listUserModels } from '../../src/operations/models/list-of-user.ts';
import { listProviders } from '../../src/operations/models/list-providers.ts';
import { listZdrEndpoints } from '../../src/operations/models/list-zdr-endpoints.ts';
import { retrieveModel } from '../../src/operations/models/retrieve-model.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { createWorkspace } from '../../src/operations/workspaces/create.ts';
import { deleteWorkspace } from '../../src/operations/workspaces/delete.ts';
import { getWorkspace } from '../../src/operations/workspaces/get.ts';
import { listWorkspaces } from '../../src/operations/workspaces/list.ts';
import { putWorkspace } from '../../src/operations/workspaces/put.ts';
import { updateWorkspace } from '../../src/operations/workspaces/update.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { endpointStatuses } from '../../src/schema/models/endpoint.ts';
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
  putWorkspace,
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
  retrieveModel,
  listModelEndpoints,
  listAllEndpoints,
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
  const described = `${method.toLowerCase()} ${operation?.path.replace(/:(\w+)\+?/g, '{$1}')}`;
  const found = validateAnswerAgainstReference(described, status, asReference(json));
  if (!laterThanReference.has(described)) expect(found).not.toBeNull();
  expect(found ?? []).toEqual([]);
}

/** Of a later version than the document, or of another interface. */
const laterThanReference = new Set([
  'put /workspaces/{id}',
  'get /workspaces/{id}/budgets/{interval}',
  'get /endpoints',
  'get /model/{author}/{slug}',
  'get /models/{id}',
]);

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
