import {
  builtInProviders,
  createGateway,
  type Gateway,
  type GatewayOptions,
  idleSwitches,
  isGatewayError,
} from '../../src/index.ts';

/** The result of a check. It contains no key and no secret. */
export interface Finding {
  /** `problem`: requests fail, or money and keys are not safe. `warning`: something may be missing. */
  level: 'ok' | 'warning' | 'problem';
  /** The subject of the check, such as `store`. */
  check: string;
  /** The result: one sentence. */
  found: string;
  /** The advice; null: there is nothing to do. */
  advice: string | null;
}

/** The dependencies of the checks. */
export interface Checking {
  options: GatewayOptions;
  gateway: Gateway;
  /** Opens one more gateway with the same options, as another process would. */
  another(): Gateway;
  /** Epoch ms. */
  now(): number;
  /** Milliseconds since any moment, which nobody sets. */
  monotonic(): number;
  /** A name that nobody else uses. */
  uniqueName(): string;
  fetch: typeof fetch;
}

const ok = (check: string, found: string): Finding => ({ level: 'ok', check, found, advice: null });
const warning = (check: string, found: string, advice: string): Finding => ({ level: 'warning', check, found, advice });
const problem = (check: string, found: string, advice: string): Finding => ({ level: 'problem', check, found, advice });

/** Opens a gateway, and says what its options lack. @returns the gateway; null: it could not be opened */
export function checkConfig(options: GatewayOptions): { gateway: Gateway | null; findings: Finding[] } {
  const findings: Finding[] = [];
  const warn = (fields: object, text: string) => {
    // Each check reports its own warnings.
    if ('status' in fields || text.startsWith('store ')) return;
    const { provider, models } = fields as { provider?: unknown; models?: unknown };
    const where = typeof provider === 'string' ? `${provider}: ` : '';
    const which = Array.isArray(models) && models.length > 0 ? ` (${models.slice(0, 5).join(', ')})` : '';
    findings.push(warning('config', `${where}${text}${which}`, 'See docs/options.md.'));
  };
  const silent = () => undefined;
  try {
    const logger = { debug: silent, info: silent, warn, error: warn };
    const gateway = createGateway({ ...options, logger });
    if (findings.length === 0) findings.push(ok('config', 'The options are valid.'));
    return { gateway, findings };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { gateway: null, findings: [problem('config', error.message, 'Correct the option; see docs/options.md.')] };
  }
}

/** Writes a workspace from two gateways at once, of which one alone may succeed, and deletes it. */
export async function checkStore({ options, gateway, another, monotonic, uniqueName }: Checking): Promise<Finding[]> {
  if (!options.store)
    return [
      warning(
        'store',
        'Nothing is kept: workspaces, budgets and keys are in memory.',
        'Set `store`; see docs/storage.md.',
      ),
    ];
  const startMs = monotonic();
  const { isReady, reasons } = await gateway.ready();
  if (!isReady) return [problem('store', reasons.join('; '), storeAdvice(reasons.join('; ')))];
  const findings = [ok('store', `It responds, in ${Math.round(monotonic() - startMs)} ms.`)];
  const slug = uniqueName();
  const other = another();
  const made = await Promise.allSettled(
    [gateway, other].map((one) => one.workspaces.create({ name: 'Made by model-gateway doctor', slug })),
  );
  const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.data.id] : []));
  for (const id of ids) await gateway.workspaces.delete({ id }).catch(() => undefined);
  await other.close();
  if (ids.length === 1) findings.push(ok('store', 'It is atomic: of two writers at once, one succeeds.'));
  else if (ids.length === 0)
    findings.push(
      problem('store', `It cannot be written to: ${reasonOf(made)}`, storeAdvice(reasonOf(made), mayWrite)),
    );
  else
    findings.push(
      problem(
        'store',
        'It is not atomic: two writers at once both succeed.',
        'Use Redis, PostgreSQL or SQLite; see docs/storage.md.',
      ),
    );
  return findings;
}

const mayWrite = 'Give the user of the store the right to write, or name the primary server.';

function storeAdvice(reason: string, otherwise = 'Start the store, or correct its address.'): string {
  if (/\bfull\b/.test(reason))
    return 'Make room: remove files from that disk, make it larger, or give the store more memory.';
  return /no writes/.test(reason) ? mayWrite : otherwise;
}

function reasonOf(made: readonly PromiseSettledResult<unknown>[]): string {
  const [first] = made;
  return first?.status === 'rejected' && first.reason instanceof Error ? first.reason.message : 'no reason was given';
}

/** Seals a provider key that opens nothing, and deletes it. */
export async function checkSecret({ gateway }: Checking): Promise<Finding[]> {
  try {
    const { data } = await gateway.credentials.create({ provider: 'openai', key: 'sk-made-by-model-gateway-doctor' });
    await gateway.credentials.delete({ id: data.id });
    return [ok('secret', 'Keys of workspaces are sealed.')];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [
      warning(
        'secret',
        `Workspaces cannot bring keys of their own: ${message}`,
        'Set `secrets`, or `sealer`; see docs/storage.md.',
      ),
    ];
  }
}

const unknownPrice = '-1';

/** Reports the providers that have a key, and the configured models that have no price. */
export async function checkProviders({ gateway, options }: Checking): Promise<Finding[]> {
  const { data: usable } = await gateway.providers.list();
  const slugs = usable.map(({ slug }) => slug);
  const findings: Finding[] = [];
  const real = slugs.filter((slug) => slug !== 'sandbox');
  findings.push(
    real.length > 0
      ? ok('providers', `With a key: ${real.join(', ')}.`)
      : warning(
          'providers',
          'No provider has a key: only the sandbox responds.',
          'Set `providers`, or their environment variables.',
        ),
  );
  const own = new Set((options.models ?? []).map(({ slug }) => slug));
  const unpriced = await unpricedOf(gateway, own);
  findings.push(
    unpriced.length === 0
      ? ok('prices', own.size === 0 ? 'No models of your own.' : 'The prices of your models are known.')
      : warning(
          'prices',
          `Without a price: ${named(unpriced)}.`,
          'Set `pricing`, or `baseModel` where its name is your own: under a budget such a model is a 400.',
        ),
  );
  return findings;
}

/** Models without a price, and with some endpoints without one; each with the endpoints, where others have a price. */
async function unpricedOf(gateway: Gateway, slugs: ReadonlySet<string>): Promise<string[]> {
  const unpriced: string[] = [];
  for (const slug of slugs) {
    const slash = slug.indexOf('/');
    const found = await gateway.models
      .listEndpoints({ author: slug.slice(0, slash), slug: slug.slice(slash + 1) })
      // Nothing of a model whose providers have no key is listed.
      .catch(() => null);
    const endpoints = found?.data.endpoints ?? [];
    const without = endpoints.filter(({ pricing }) => pricing.prompt === unknownPrice).map(({ tag }) => tag);
    if (without.length === 0) continue;
    unpriced.push(without.length === endpoints.length ? slug : `${slug} at ${without.join(' and ')}`);
  }
  return unpriced;
}

/** Switches of workspaces that have no effect, as the options lack what they need. */
export async function checkSwitches({ gateway, options }: Checking): Promise<Finding[]> {
  const workspaces = await allOf((page) => gateway.workspaces.list(page));
  const findings: Finding[] = [];
  for (const [name, needs] of idleSwitches(options)) {
    const turnedOn = workspaces.filter((workspace) => workspace[name]).map(({ slug }) => slug);
    if (turnedOn.length > 0)
      findings.push(
        warning(
          'switches',
          `${name} has no effect for: ${named(turnedOn)}.`,
          `For an effect, ${needs}; see docs/workspaces.md.`,
        ),
      );
  }
  return findings.length > 0 ? findings : [ok('switches', 'All switches of workspaces have an effect.')];
}

/** Credentials of workspaces that no request uses, such as one that lacks a part. */
export async function checkCredentials({ gateway }: Checking): Promise<Finding[]> {
  const workspaces = await allOf((page) => gateway.workspaces.list(page));
  const findings: Finding[] = [];
  for (const { id, slug } of workspaces) {
    const credentials = await allOf((page) => gateway.credentials.list({ workspace_id: id, ...page }));
    for (const { provider, label, unusable_reason: reason } of credentials)
      if (reason !== undefined)
        findings.push(
          warning(
            'byok',
            `The credential ${label} of ${slug} for ${provider} is not used: ${reason}.`,
            'Change its key with PATCH /byok/{id}, or the settings of the provider; see docs/workspaces.md.',
          ),
        );
  }
  return findings.length > 0 ? findings : [ok('byok', 'All credentials of workspaces can be used.')];
}

/** Reads all pages of a list. */
async function allOf<T>(read: (page: { offset: number; limit: number }) => Promise<{ data: T[] }>): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const { data } = await read({ offset: all.length, limit: pageSize });
    all.push(...data);
    if (data.length < pageSize) return all;
  }
}

/** The most that a list operation returns. */
const pageSize = 100;

function named(list: readonly string[]): string {
  return list.length > 5 ? `${list.slice(0, 5).join(', ')} and ${list.length - 5} more` : list.join(', ');
}

const liveTimeoutMs = 20_000;
const dearest = Number.POSITIVE_INFINITY;

/** One request of a few tokens to each provider with a key, at its cheapest model. */
export async function checkLive({ gateway }: Checking): Promise<Finding[]> {
  const { data: usable } = await gateway.providers.list();
  const { data: models } = await gateway.models.list();
  const priceOf = (price: string) => (Number(price) < 0 ? dearest : Number(price));
  const sorted = models.toSorted((a, b) => priceOf(a.pricing.completion) - priceOf(b.pricing.completion));
  const caller = gateway.as({ permissions: ['inference'] });
  return Promise.all(
    usable
      .filter(({ slug }) => slug !== 'sandbox')
      .map(async ({ slug }) => {
        for (const { id } of sorted.slice(0, 300)) {
          const finding = await askOnce(caller.fetch, slug, id);
          if (finding !== null) return finding;
        }
        return warning('live', `${slug}: no model of it is known here.`, 'Add one to `models` to have it checked.');
      }),
  );
}

/** @returns null: the provider does not serve the model */
async function askOnce(ask: Gateway['fetch'], slug: string, model: string): Promise<Finding | null> {
  const response = await ask('http://doctor/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-timeout-ms': String(liveTimeoutMs) },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Reply with: ok' }],
      max_tokens: 16,
      provider: { only: [slug], allow_fallbacks: false },
    }),
  });
  const body = (await response.json()) as { error?: { message?: string; metadata?: { excluded?: unknown } } };
  if (response.status === 200) return ok('live', `${slug}: ${model} responds.`);
  const { message = '', metadata = {} } = body.error ?? {};
  if (response.status === 404 && metadata.excluded !== undefined) return null;
  return problem('live', `${slug}: ${model} is a ${response.status}: ${message}`, adviceFor(response.status));
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return 'Look at the key of the provider, and at what it may do.';
  if (status === 502) return 'Look at the address of the provider, at the network, and at the key.';
  if (status === 402 || status === 429) return 'Look at the account of the provider: its money and its limits.';
  if (status === 404) return 'The account may not have this model.';
  return 'Try again; if it stays, look at the address and the network.';
}

const skewWarningMs = 2_000;
const skewProblemMs = 30_000;

/** This machine's clock against that of the store, and with `isLive` against that of a provider. */
export async function checkClock(checking: Checking, isLive: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  const inStore = await offsetOf(checking.now, () => storeTime(checking.options.store));
  if (inStore !== null) findings.push(skewOf('the store', inStore));
  if (isLive) {
    const inWorld = await offsetOf(checking.now, () => providerTime(checking));
    if (inWorld !== null) findings.push(skewOf('a provider', inWorld));
  }
  return findings.length > 0 ? findings : [ok('clock', 'The store has no clock of its own to compare with.')];
}

function skewOf(what: string, offsetMs: number): Finding {
  const ms = Math.abs(Math.round(offsetMs));
  if (ms < skewWarningMs) return ok('clock', `This machine and ${what} agree.`);
  const found = `This machine is ${(ms / 1000).toFixed(1)} s ${offsetMs > 0 ? 'behind' : 'ahead of'} ${what}.`;
  const advice = 'Synchronize the clock: intervals of budgets begin by it.';
  return ms < skewProblemMs ? warning('clock', found, advice) : problem('clock', found, advice);
}

/** The time in ms by which another clock is ahead, less half the time of the request; null: there is no other clock. */
async function offsetOf(now: () => number, ask: () => Promise<number | null>): Promise<number | null> {
  try {
    const startMs = now();
    const there = await ask();
    return there === null || Number.isNaN(there) ? null : there - (startMs + now()) / 2;
  } catch {
    return null;
  }
}

/** The header `Date` of a provider with a key, which has whole seconds; null: none has an address. */
async function providerTime({ gateway, options, fetch: ask }: Checking): Promise<number | null> {
  const { data: usable } = await gateway.providers.list();
  const own = (options.providers ?? {}) as Record<string, { baseUrl?: unknown } | undefined>;
  const addresses = usable.map(
    ({ slug }) => own[slug]?.baseUrl ?? builtInProviders.find((one) => one.slug === slug)?.baseUrl,
  );
  const address = addresses.find((one) => typeof one === 'string' && one.startsWith('http'));
  if (typeof address !== 'string') return null;
  const { headers } = await ask(address, { method: 'HEAD', redirect: 'manual' });
  const date = headers.get('date');
  return date === null ? null : Date.parse(date) + 500;
}

interface Server {
  client?: { sendCommand?: (command: string[]) => Promise<unknown> };
  query?: (text: string) => Promise<unknown>;
  store?: unknown;
  opts?: { store?: unknown };
}

/** Epoch ms; null: the store has no clock of its own. */
async function storeTime(store: unknown): Promise<number | null> {
  const { client, query, store: inner, opts } = (store ?? {}) as Server;
  if (typeof client?.sendCommand === 'function') {
    const [seconds, micros] = (await client.sendCommand(['TIME'])) as [string, string];
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }
  if (typeof query === 'function') {
    const rows = (await query.call(store, 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')) as {
      ms: string;
    }[];
    return rows[0] === undefined ? null : Number(rows[0].ms);
  }
  const next = inner ?? opts?.store;
  return next === undefined || next === store ? null : storeTime(next);
}
