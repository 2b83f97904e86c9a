// The gateway under test, as an application would run it: the packed package on a loopback port, its upstreams the
// sandbox and a mock server over real HTTP.
import { builtInProviders, createGateway, serve } from '../installed.mjs';

/** What callers authenticate with. */
const apiKey = 'sk-client-0123456789';
/** What workspaces, budgets and keys are managed with. */
export const managementKey = 'sk-management-0123456789';
/** What the gateway authenticates with at the mock server. */
export const mockKey = 'sk-upstream-0123456789';

/**
 * @param mockUrl    of the mock server's `/v1`; its models are `mock/…` and, priced, `acme/fast`
 * @param providers  beside the sandbox and this mock server
 * @param models     beside `acme/fast`
 * @param options    of the gateway, beside these
 */
export async function startService({ mockUrl, providers = {}, models = [], options = {} } = {}) {
  const records = queue();
  const upstream = queue();
  const gateway = createGateway({
    providers: {
      sandbox: watched(
        builtInProviders.find(({ slug }) => slug === 'sandbox'),
        upstream.add,
      ),
      ...(mockUrl === undefined ? {} : { mock: { baseUrl: mockUrl, apiKey: mockKey, name: 'Mock' } }),
      ...providers,
    },
    models: [
      ...(mockUrl === undefined
        ? []
        : [{ slug: 'acme/fast', endpoints: [{ provider: 'mock', model: 'gpt-4o-mini', pricing }] }]),
      ...models,
    ],
    apiKeys: [{ key: apiKey }, { key: managementKey, permissions: ['management'] }],
    secrets: { current: 'a master secret that seals what is in memory' },
    // The clients' own retries are looked at here.
    retry: { attemptsPerEndpoint: 1 },
    // Some models fail on purpose, in one check after the other.
    health: { failuresToCooldown: 1000 },
    onRecord: records.add,
    ...options,
  });
  const server = await serve(gateway, { port: 0, hostname: '127.0.0.1' });
  return {
    gateway,
    baseURL: server.url,
    apiKey,
    /** The gateway's record of the next finished request; waits for it. */
    nextRecord: records.next,
    /** How many more records have come. */
    recordsLeft: records.count,
    /** What was sent to the sandbox next: `{ body, stopped }`, the latter a promise of the time it was stopped at. */
    nextSent: upstream.next,
    /** Forgets records and requests that nobody asked for. */
    begin() {
      records.clear();
      upstream.clear();
    },
    async close() {
      await server.close(0);
      await gateway.close();
    },
  };
}

/** USD per token. */
const pricing = { prompt: '0.000002', completion: '0.000008' };

/** The sandbox, telling what it is sent and when the gateway lets go of it. */
function watched(provider, tell) {
  return {
    ...provider,
    createTransport(runtime) {
      const transport = provider.createTransport(runtime);
      return {
        async send(request) {
          const stopped = Promise.withResolvers();
          const stop = () => stopped.resolve(performance.now());
          request.signal.addEventListener('abort', stop, { once: true });
          tell({
            body: typeof request.body === 'string' ? JSON.parse(request.body) : request.body,
            headers: request.headers,
            stopped: stopped.promise,
          });
          const response = await transport.send(request);
          const cancel = () => {
            stop();
            response.body.cancel();
          };
          return { ...response, body: { read: () => response.body.read(), cancel } };
        },
      };
    },
  };
}

/** Values in the order they came; `next` waits for one. */
function queue() {
  let values = [];
  let waiting = [];
  return {
    add(value) {
      if (waiting.length > 0) waiting.shift()(value);
      else values.push(value);
    },
    next: () => (values.length > 0 ? Promise.resolve(values.shift()) : new Promise((resolve) => waiting.push(resolve))),
    count: () => values.length,
    clear() {
      values = [];
      waiting = [];
    },
  };
}
