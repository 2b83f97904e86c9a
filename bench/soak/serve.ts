import { createServer } from 'node:http';
import process from 'node:process';
import express from 'express';
import type { GatewayOptions, OperationRecord, RequestRecord } from '../../src/index.ts';
import { loadBuiltSqlite } from '../built.ts';
import { measuring, serveParent } from '../control.ts';
import { managementKey } from '../gateway-options.ts';
import { listen } from '../listen.ts';
import { openStore } from '../open-store.ts';
import { placeFrom } from '../stores.ts';

/**
 * The server of the soak: the built package in an Express app, over the store that the second argument names. The first
 * is the port of the provider.
 */
const { createGateway }: typeof import('../../src/index.ts') = await import(
  new URL('../../dist/index.js', import.meta.url).href
);
const { gatewayMiddleware }: typeof import('../../adapters/hosts/express.ts') = await import(
  new URL('../../dist/express.js', import.meta.url).href
);
const opened = openStore(placeFrom(process.argv[3]), await loadBuiltSqlite());
const baseUrl = `http://127.0.0.1:${process.argv[2]}`;

/** What has come in, and what was recorded of it. */
const tally = { arrived: 0, recorded: 0, refused: 0, twice: 0, costNanoUsd: 0, overrunNanoUsd: 0 };

/** Ids of the latest records: a record that is written twice is written twice soon. */
const latest = new Set<string>();
const mostLatest = 20_000;

function count({ id, costNanoUsd, overrunNanoUsd }: RequestRecord): void {
  tally.recorded++;
  tally.costNanoUsd += costNanoUsd ?? 0;
  tally.overrunNanoUsd += overrunNanoUsd;
  if (latest.has(id)) tally.twice++;
  latest.add(id);
  if (latest.size > mostLatest) latest.delete(latest.values().next().value as string);
}

/** Only of completions: the other operations are those of the soak itself. */
function countOther({ kind, operation }: OperationRecord): void {
  if (kind === 'refusal' && operation?.startsWith('create')) tally.refused++;
}

const endpoint = (provider: string) => ({
  provider,
  model: 'soaked',
  pricing: { prompt: '0.0000005', completion: '0.000002' },
  contextLength: 128_000,
  maxCompletionTokens: 16_384,
});
const options: GatewayOptions = {
  apiKeys: [{ key: managementKey, permissions: ['management'] }],
  // The first fails where a request says so; the second never does.
  providers: Object.fromEntries(
    ['shaky', 'steady'].map((slug) => [slug, { apiKey: `key-of-${slug}`, baseUrl: `${baseUrl}/${slug}/v1` }]),
  ),
  models: [{ slug: 'soak/model', endpoints: [endpoint('shaky'), endpoint('steady')] }],
  // One request in ten fails on purpose: no endpoint is to be left alone for it, and nobody is to wait for long.
  health: { failuresToCooldown: 1_000_000 },
  retry: { baseDelayMs: 5 },
  store: opened.store,
  storeTimeoutMs: 10_000,
  onRecord: count,
  onOperation: countOther,
};
const gateway = createGateway(options);
const app = express();
app.use('/v1', (req, _res, next) => {
  if (req.method === 'POST') tally.arrived++;
  next();
});
app.use('/v1', gatewayMiddleware(gateway));
const server = createServer({ keepAliveTimeout: 60_000 }, app);

const tenant = { workspaceId: '', apiKey: '' };

async function manage<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await gateway.fetch(`http://127.0.0.1/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${managementKey}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function makeTenant(): Promise<void> {
  const { data } = await manage<{ data: { id: string } }>('POST', '/workspaces', { name: 'Soak', slug: 'soak' });
  tenant.workspaceId = data.id;
  await manage('PUT', `/workspaces/${data.id}/budgets/monthly`, { limit_usd: 1_000_000 });
  const guardrail = await manage<{ data: { id: string } }>('POST', '/guardrails', {
    name: 'No addresses',
    workspace_id: data.id,
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
  });
  await manage('POST', `/guardrails/${guardrail.data.id}/assignments/workspaces`, { workspace_ids: [data.id] });
  tenant.apiKey = (await manage<{ key: string }>('POST', '/keys', { name: 'Soak', workspace_id: data.id })).key;
}

/** What the ledger says, integer nano-USD. */
async function money(): Promise<{ spentNanoUsd: number; heldNanoUsd: number }> {
  const { data } = await manage<{ data: { spent_usd: number; held_usd: number } }>(
    'GET',
    `/workspaces/${tenant.workspaceId}/budgets/monthly`,
  );
  return { spentNanoUsd: Math.round(data.spent_usd * 1e9), heldNanoUsd: Math.round(data.held_usd * 1e9) };
}

serveParent({
  ...measuring,
  async port() {
    await makeTenant();
    return listen(server);
  },
  apiKey: () => tenant.apiKey,
  tally: () => tally,
  money,
  /** What keeps the process busy, by kind. */
  handles(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  },
  async close() {
    await gateway.close();
    await opened.close();
  },
});
