import { StopSwitch } from '../base/async/stop.ts';
import { withSignal } from '../base/async/within.ts';
import { type Clock, isoTime } from '../base/clock.ts';
import { joinUrl } from '../base/http/base-url.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { parseJson } from '../base/json.ts';
import { isObject } from '../base/values.ts';
import { type CheckResult, createHealthChecks, type HealthChecks } from '../catalog/health/checks.ts';
import type { OutgoingRequest, Provider } from '../providers/provider.ts';
import type { HealthCheckSettings } from '../schema/settings/health-check.ts';
import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';
import { readTextBounded, send } from '../transport/send.ts';
import type { Transport } from '../transport/transport.ts';
import type { OperatorKeys } from './keys/operator-keys.ts';
import type { Configured } from './providers.ts';

export interface CheckDeps {
  clock: Clock;
  random: () => number;
  keys: OperatorKeys;
  transportOf: (provider: Provider) => Transport;
  /** The most bytes of all headers of a response. */
  headerBytes: number;
  logger: StoreLogger | null;
}

/** The most bytes of a list of models. */
const mostBytes = 4 * 1024 * 1024;
const mostDepth = 20;

/** Makes the checks that the options ask for. @returns null: they ask for none */
export function healthChecksOf(configured: Iterable<Configured>, deps: CheckDeps): HealthChecks | null {
  const servers = [...configured].flatMap((one) => {
    const { provider, healthCheck } = one;
    if (healthCheck === null) return [];
    const check = (signal: AbortSignal) => checked(one, healthCheck, deps, signal);
    return [{ provider: provider.slug, settings: healthCheck, check }];
  });
  if (servers.length === 0) return null;
  return createHealthChecks(servers, {
    clock: deps.clock,
    random: deps.random,
    changed: ({ provider, isUp, sinceMs, failure }) => {
      const fields = { provider, since: isoTime(sinceMs), ...(failure === null ? {} : { reason: failure }) };
      writeLog(deps.logger, 'warn', fields, isUp ? 'A provider is up again' : 'A provider is down by its health check');
    },
  });
}

/** Asks a server once. Never rejects. */
async function checked(
  configured: Configured,
  settings: HealthCheckSettings,
  deps: CheckDeps,
  stop: AbortSignal,
): Promise<CheckResult> {
  const { timeoutMs } = settings;
  const limits = { signals: [stop], timeoutMs, late: () => new Late(), isIdle: true };
  const request = await withSignal(deps.clock, limits, (signal) => signedFor(configured, settings, deps, signal)).catch(
    () => null,
  );
  // Without a key, or with a request that cannot be signed, nothing is known of the server.
  if (request === null) return { kind: 'none' };
  try {
    return await withSignal(deps.clock, limits, (signal) => asked(configured, request, settings, deps, signal));
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error, timeoutMs) };
  }
}

class Late extends Error {}

/** Makes the request of a check, with the operator's key: of several keys, the first. */
async function signedFor(
  { provider, keys }: Configured,
  { path }: HealthCheckSettings,
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<OutgoingRequest> {
  const [first] = keys;
  const ref = { kind: 'operator', provider: provider.slug, ...(first && { key: first.label }) } as const;
  const stop = new StopSwitch();
  signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
  const credential = await deps.keys.open(ref, stop);
  const baseUrl = typeof provider.baseUrl === 'string' ? provider.baseUrl : provider.baseUrl(credential);
  const url = path === undefined ? joinUrl(baseUrl, '/models') : `${new URL(baseUrl).origin}${path}`;
  const headers = { accept: 'application/json', ...credential.headers };
  return provider.auth({ method: 'GET', url, headers, body: '' }, credential, deps.clock);
}

async function asked(
  { provider }: Configured,
  { url, headers }: OutgoingRequest,
  { checkModels }: HealthCheckSettings,
  { transportOf, headerBytes }: CheckDeps,
  signal: AbortSignal,
): Promise<CheckResult> {
  const request = { method: 'GET', url, headers, signal, limits: { headerBytes } } as const;
  const { status, body } = await send(transportOf(provider), request, mostBytes);
  const isSuccess = status >= 200 && status <= 299;
  if (!isSuccess || !checkModels) body.cancel();
  // A server that refuses the key, or asks for a pause, is there: its requests will show what comes of it.
  if (!isSuccess)
    return hasAnswered(status) ? { kind: 'up', models: null } : { kind: 'failed', reason: `status ${status}` };
  if (!checkModels) return { kind: 'up', models: null };
  const models = modelsIn(await readTextBounded(body, mostBytes));
  return models === null ? { kind: 'failed', reason: 'the response is no list of models' } : { kind: 'up', models };
}

function hasAnswered(status: number): boolean {
  return status === 401 || status === 403 || status === 429;
}

/** Reads the names of a list of models in the form of OpenAI. @returns null: it is no such list */
function modelsIn(text: string): ReadonlySet<string> | null {
  try {
    const body = parseJson(text, mostDepth);
    const list = isObject(body) ? body.data : null;
    if (!Array.isArray(list)) return null;
    return new Set(list.flatMap((one) => (isObject(one) && typeof one.id === 'string' ? [one.id] : [])));
  } catch {
    // It is no JSON.
    return null;
  }
}

/** Says why a check failed, without any text of the server. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Late) return `no answer within ${timeoutMs} ms`;
  return (error instanceof UpstreamError ? error.failure : undefined) ?? 'the server could not be asked';
}
