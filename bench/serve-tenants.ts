import { createServer } from 'node:http';
import process from 'node:process';
import { chatRequest } from './bodies.ts';
import { loadBuilt, loadBuiltSqlite } from './built.ts';
import { measuring, serveParent } from './control.ts';
import { costNanoUsd, managementKey, tenantOptions, tenantProvider } from './gateway-options.ts';
import { listen } from './listen.ts';
import { openStore } from './open-store.ts';
import { startProfile, stopProfile } from './profiling.ts';
import { placeFrom } from './stores.ts';

/**
 * The gateway of the built package with a tenant: a workspace with a daily and a monthly budget, a BYOK credential and
 * a stored key. The second argument names the place of the store.
 */
const { createGateway, gatewayListener } = await loadBuilt();
const opened = openStore(placeFrom(process.argv[3]), await loadBuiltSqlite());
const metered = { requests: 0, costNanoUsd: 0 };
const gateway = createGateway(
  tenantOptions(
    `http://127.0.0.1:${process.argv[2]}/v1`,
    ({ outcome, costNanoUsd: cost }) => {
      if (outcome !== 'ok') return;
      metered.requests += 1;
      metered.costNanoUsd += cost ?? 0;
    },
    opened.store,
  ),
);
const server = createServer({ keepAliveTimeout: 60_000 }, gatewayListener(gateway));

const startedAt = new Date();
/** High enough that no request is refused. */
const largeUsd = 1_000_000;
/** Less than the cost of any request. */
const smallUsd = 1e-9;
const tenant = { workspaceId: '', apiKey: '' };

async function makeTenant(): Promise<void> {
  const { data } = await manage('POST', '/workspaces', { name: 'Bench', slug: 'bench' });
  tenant.workspaceId = data.id;
  await setBudgets({ daily: largeUsd, monthly: largeUsd });
  const inWorkspace = { workspace_id: tenant.workspaceId };
  await manage('POST', '/byok', { provider: tenantProvider, key: 'upstream-key-of-the-workspace', ...inWorkspace });
  tenant.apiKey = (await manage('POST', '/keys', { name: 'Bench', ...inWorkspace })).key;
}

async function setBudgets(limitsUsd: { daily: number; monthly: number }): Promise<void> {
  for (const [interval, limit] of Object.entries(limitsUsd))
    await manage('PUT', `/workspaces/${tenant.workspaceId}/budgets/${interval}`, { limit_usd: limit });
}

/** The parts of management responses that are read here. */
interface Managed {
  data: { id: string };
  key: string;
}

async function manage(method: string, path: string, body: object): Promise<Managed> {
  const response = await send(method, path, managementKey, JSON.stringify(body));
  if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Managed;
}

function send(method: string, path: string, key: string, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return gateway.fetch(`http://127.0.0.1/v1${path}`, { method, headers, body });
}

/** Reads a window's amounts from a 402. If both budgets are used up, the 402 reports the monthly window. */
async function stateOf(interval: 'daily' | 'monthly'): Promise<{ spentNanoUsd: number; heldNanoUsd: number }> {
  const response = await send('POST', '/chat/completions', tenant.apiKey, chatRequest());
  const { error } = (await response.json()) as { error?: { metadata?: Record<string, unknown> } };
  const { interval: named, spent_usd: spent, held_usd: held } = error?.metadata ?? {};
  if (response.status !== 402 || named !== interval)
    throw new Error(`a request beyond the ${interval} budget got status ${response.status}, interval ${named}`);
  return { spentNanoUsd: nano(spent), heldNanoUsd: nano(held) };
}

function nano(usd: unknown): number {
  return Math.round(Number(usd) * 1e9);
}

/**
 * Checks that the ledger's spent amounts equal the cost of all requests. The amounts are read from the metadata of
 * refused requests.
 * @param requests  number of responses that the client counted
 * @throws Error when an amount differs, because the measurement then means nothing
 */
async function audit(requests: number): Promise<void> {
  const spent: Record<string, number> = {};
  for (const [interval, limits] of [
    ['daily', { daily: smallUsd, monthly: largeUsd }],
    ['monthly', { daily: smallUsd, monthly: smallUsd }],
  ] as const) {
    await setBudgets(limits);
    let state = await stateOf(interval);
    // The last settlements may not be complete yet.
    for (let polls = 0; state.heldNanoUsd > 0 && polls < 500; polls += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      state = await stateOf(interval);
    }
    if (state.heldNanoUsd > 0) throw new Error(`${state.heldNanoUsd} nano-USD are still held`);
    spent[interval] = state.spentNanoUsd;
  }
  const expected = requests * costNanoUsd;
  const found = { 'the records': metered.costNanoUsd, ...inWindows(spent) };
  for (const [where, nanoUsd] of Object.entries(found)) {
    if (nanoUsd === expected) continue;
    throw new Error(`${requests} requests cost ${expected} nano-USD, but there are ${nanoUsd} in ${where}`);
  }
}

/** Leaves out windows that began during the measurement: some of the cost is in the window before. */
function inWindows({ daily = 0, monthly = 0 }: Record<string, number>): Record<string, number> {
  const isSame = (chars: number) =>
    startedAt.toISOString().slice(0, chars) === new Date().toISOString().slice(0, chars);
  return {
    ...(isSame('2026-01-31'.length) ? { 'the window of the day': daily } : {}),
    ...(isSame('2026-01'.length) ? { 'the window of the month': monthly } : {}),
  };
}

serveParent({
  ...measuring,
  async port() {
    await makeTenant();
    return listen(server);
  },
  apiKey: () => tenant.apiKey,
  audit,
  async close() {
    await gateway.close();
    await opened.close();
  },
  startProfile,
  stopProfile,
});
