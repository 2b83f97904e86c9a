import { expect } from 'vitest';
import { isGatewayError } from '../../src/base/errors.ts';
import { type Explanation, explanationSchema } from '../../src/schema/chat/explanation.ts';
import { hello, managementKey, type TestGateway, testGateway } from './gateway.ts';
import { type Dice, dice, ownable, randomCatalogue, randomRequest } from './random-routes.ts';
import { seeded } from './routing.ts';
import { completion, errorBody, type ScriptedAnswer, textStream } from './upstream.ts';

/** What was explained of a request, or the status it was refused with. */
type Told = { explanation: Explanation } | { status: number };

/** A gateway of random models, credentials and budgets, to which the same request can be explained and sent. */
async function randomGateway(roll: Dice) {
  let random = seeded(0);
  let isMixed = false;
  const catalogue = randomCatalogue(roll);
  const maxAttempts = roll.pick([2, 5, 50]);
  /** Milliseconds until an answer of each provider, by the first letter of its host. */
  const delays = new Map(['u', 'a', 't', 'g', 'm'].map((letter) => [letter, roll.pick([0, 50, 150, 3000])]));
  const tested = testGateway({
    ...catalogue,
    transport: {
      async send(request) {
        if (isMixed) tested.upstream.answer(randomFailure(roll));
        await tested.clock.advance(delays.get(/\/\/(?:api\.)?(.)/.exec(request.url)?.[1] ?? '') ?? 0);
        return tested.upstream.transport.send(request);
      },
    },
    secrets: { current: 'a master secret of the tests, which is long enough' },
    random: () => random(),
    retry: { attemptsPerEndpoint: 1, maxAttempts },
    // A failure shows as a status, however long it took.
    keepAlive: { firstMs: 3_600_000 },
    health: { failuresToCooldown: roll.pick([3, 1000]), cooldownMs: 1000 },
    budgets: {
      includeByok: roll.chance(0.3),
      shrinkToFit: roll.chance(0.3),
      unknownPrice: roll.pick(['refuse', 'allow']),
    },
  });
  const manage = async (method: string, path: string, body: object) => {
    const response = await tested.gateway.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  };
  if (roll.chance(0.25)) await warmUp(tested, catalogue.models);
  for (const provider of roll.chance(0.3) ? ownable : []) {
    for (let n = roll.int(0, 2); n > 0; n--) {
      await manage('POST', '/byok', {
        provider,
        key: `sk-own-${provider}-${n}-0123456789`,
        ...(roll.chance(0.3) ? { is_fallback: true } : {}),
        ...(roll.chance(0.3) ? { allowed_models: [roll.pick(['acme/big*', 'acme/*'])] } : {}),
        ...(roll.chance(0.2) ? { allowed_user_ids: ['u1'] } : {}),
      });
    }
  }
  const budgets = roll.chance(0.4) ? roll.some(['daily', 'monthly', 'lifetime'], 0.5) : [];
  for (const interval of budgets)
    await manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd: roll.pick([0.0005, 0.01, 1]) });
  if (roll.chance(0.3))
    await manage('PATCH', '/workspaces/default', {
      default_provider_sort: roll.pick(['price', 'latency', 'throughput', null]),
      default_text_model: roll.pick(['acme/big-0', null]),
    });
  return {
    ...tested,
    models: catalogue.models,
    streams: roll.pick([0.2, 0.9]),
    maxAttempts,
    /** From now on every provider refuses in its own way, or none does. */
    mix(all: boolean) {
      isMixed = all;
    },
    /** Starts the draws anew. */
    reseed(seed: number) {
      random = seeded(seed);
    },
  };
}

/** As many streams of each endpoint as it takes to know how fast it is. */
async function warmUp({ send, upstream }: TestGateway, models: RandomModels): Promise<void> {
  upstream.always({ body: textStream('Hi') });
  for (const { slug, endpoints } of models) {
    for (const { provider, variant } of endpoints) {
      const order = [variant === undefined ? provider : `${provider}/${variant}`];
      const body = { model: slug, messages: hello, stream: true, provider: { order, allow_fallbacks: false } };
      for (let n = 0; n < 5; n++) await (await send(body)).text();
    }
  }
}

type RandomModels = ReturnType<typeof randomCatalogue>['models'];
type RandomGateway = Awaited<ReturnType<typeof randomGateway>>;

async function explained({ gateway }: RandomGateway, body: unknown): Promise<Told> {
  try {
    const explanation = await gateway.explain(body);
    expect(explanationSchema().strict().parse(explanation)).toEqual(explanation);
    return { explanation };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { status: error.status };
  }
}

/**
 * Sends the request.
 * @returns its status, and each endpoint that was called: model, tag, and whether by an own credential
 */
async function sent({ send, upstream }: RandomGateway, body: unknown) {
  const before = upstream.sent.length;
  const response = await send(body);
  await response.text();
  const calls = upstream.sent.slice(before).map(({ body: { model }, url, headers }) => {
    const name = String(model);
    const isByok = headers.authorization?.includes('sk-own') ?? false;
    // Of a model that is not listed: the host is the provider.
    const host = /^https:\/\/(?:api\.)?([^.]+)/.exec(url)?.[1];
    return name.startsWith('acme/') ? `${name} ${isByok}` : `${host}/${name} ${host} ${isByok}`;
  });
  return { status: response.status, calls };
}

const namesOf = ({ candidates }: Explanation) =>
  candidates.map(({ model, provider, is_byok }) => `${model} ${provider} ${is_byok}`);

/** How the providers are: all well, all failing, failing at first, or each refusing in its own way. */
type Weather = 'well' | 'failing' | 'failing at first' | 'mixed';

function randomFailure(roll: Dice): ScriptedAnswer {
  const status = roll.pick([400, 401, 402, 403, 404, 422, 429, 429, 500, 503, 529]);
  const headers: Record<string, string> = roll.chance(0.3) ? { 'retry-after': `${roll.pick([1, 30])}` } : {};
  return { status, body: errorBody('No'), headers };
}

/** Whether these are some of all, in the same order. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  return some.every((one) => {
    at = all.indexOf(one, at) + 1;
    return at > 0;
  });
}

function script({ upstream, mix }: RandomGateway, weather: Weather, isStream: boolean, isCached: boolean): void {
  mix(weather === 'mixed');
  const failure = { status: 500, body: errorBody('No') };
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 2,
    total_tokens: 12,
    ...(isCached ? { prompt_tokens_details: { cached_tokens: 8 } } : {}),
  };
  const success = { body: isStream ? textStream('Hi') : completion({ usage }) };
  upstream.always(weather === 'failing' ? failure : success);
  if (weather === 'failing at first') upstream.answer(failure);
}

const endpointOf = (name: string) => name.replace(/ (?:true|false)$/, '');

export const requestsEach = 25;

/**
 * Explains random requests to a random gateway and then sends them: what was explained is what has to happen.
 * @param seen  counts what occurred, so that a test of nothing is noticed
 */
export async function checkGateway(seed: number, seen: Map<string, number>): Promise<void> {
  const roll = dice(seed);
  const tested = await randomGateway(roll);
  const { upstream, maxAttempts } = tested;
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let n = 0; n < requestsEach; n++) {
    const body = { ...randomRequest(roll, tested.models), stream: roll.chance(tested.streams) };
    const weather = roll.pick<Weather>(['well', 'well', 'failing', 'failing at first', 'mixed']);
    const say = `gateway ${seed}, request ${n}, ${weather}: ${JSON.stringify(body).replace(/x{99,}/g, 'x…x')}`;
    const callsBefore = upstream.sent.length;
    tested.reseed(seed * 1000 + n);
    const told = await explained(tested, body);
    expect(upstream.sent.length, say).toBe(callsBefore);

    const isServed = 'explanation' in told && told.explanation.error === null;
    script(tested, isServed ? weather : 'well', body.stream, roll.chance(0.5));
    tested.reseed(seed * 1000 + n);
    const { status, calls } = await sent(tested, body);
    count(`status ${status}`);
    if (!('explanation' in told)) {
      expect([calls, status], say).toEqual([[], told.status]);
      count('refused outright');
      continue;
    }
    const { candidates, excluded, error, budgets, hold_usd } = told.explanation;
    const names = namesOf(told.explanation);
    expect(
      names.filter((name) => name.includes('sandbox')),
      say,
    ).toEqual([]);
    const isLeftOut = new Set(excluded.map(({ model, provider }) => `${model} ${provider}`));
    expect(
      [...names, ...calls].filter((name) => isLeftOut.has(endpointOf(name))),
      say,
    ).toEqual([]);
    if (error) {
      expect([calls, status, names], say).toEqual([[], error.code, []]);
    } else if (weather === 'failing') {
      expect(calls, say).toEqual(names.slice(0, maxAttempts));
    } else if (weather === 'mixed') {
      expect([isPartOf(calls, names), calls[0], calls.length <= maxAttempts], say).toEqual([true, names[0], true]);
      expect(status, say).toBeGreaterThanOrEqual(400);
    } else {
      const served = weather === 'well' ? 1 : Math.min(names.length, 2);
      expect(calls, say).toEqual(names.slice(0, served));
      expect(status, say).toBe(weather === 'well' || served === 2 ? 200 : 502);
    }
    // What one request held is given back when the next is explained.
    expect(
      budgets.filter(({ held_usd }) => held_usd !== 0),
      say,
    ).toEqual([]);

    for (const { filter } of excluded) count(`excluded by ${filter}`);
    if (hold_usd !== null) count('held');
    for (const mark of ['is_byok', 'is_pinned', 'has_outage', 'lacks', 'is_slow'] as const)
      if (candidates.some((one) => one[mark])) count(mark);
    if (roll.chance(0.3)) await tested.clock.advance(roll.pick([100, 1000, 5000, 20_000]));
  }
  await tested.gateway.close();
}
