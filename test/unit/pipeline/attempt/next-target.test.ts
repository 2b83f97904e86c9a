import { describe, expect, it } from 'vitest';
import { UpstreamError, type UpstreamErrorOptions } from '../../../../src/base/http/upstream-error.ts';
import type { Endpoint } from '../../../../src/call/model.ts';
import type { Target } from '../../../../src/call/plan.ts';
import { defaultWorkspaceId } from '../../../../src/call/workspace.ts';
import { chooseNext } from '../../../../src/pipeline/attempt/next-target.ts';

const retry = {
  maxAttempts: 9,
  attemptsPerEndpoint: 2,
  baseDelayMs: 100,
  maxDelayMs: 250,
  maxRetryAfterMs: 1000,
  cooldownMs: 60_000,
  keyCooldownMs: 5_000,
};

const target = (modelIndex: number, isByok = false): Target => ({
  endpoint: { providerSlug: 'p', modelSlug: 'm' } as Endpoint,
  providerName: 'P',
  credential: { kind: 'operator', provider: 'p' },
  isByok,
  workspaceId: defaultWorkspaceId,
  modelIndex,
});

const operators = [target(0), target(0), target(1)];
/** Two keys at one endpoint, then another endpoint. */
const endpoint = { providerSlug: 'p', modelSlug: 'm' } as Endpoint;
const withKey = (key: string): Target => ({
  ...target(0),
  endpoint,
  credential: { kind: 'operator', provider: 'p', key },
});
const keys = [withKey('a'), withKey('b'), target(0)];
const byok = [target(0, true), target(0), target(1)];

const failure = (status: number, more: Partial<UpstreamErrorOptions> = {}) =>
  new UpstreamError('failed', { reason: 'status', status, ...more });

type Row = [string, { targets?: Target[]; at?: number; attempts?: number }, UpstreamError, object | null];

describe('after a failed attempt', () => {
  it.each<Row>([
    ['a transient failure: the same target, after a backoff', {}, failure(503), { at: 0, delayMs: 75 }],
    ['one too many at this target: the next', { attempts: 2 }, failure(503), { at: 1, delayMs: 0 }],
    ['at the last target: none', { at: 2, attempts: 2 }, failure(503), null],
    ['a backoff doubles, up to a limit', { attempts: 1, at: 2 }, failure(500), { at: 2, delayMs: 75 }],
    ['a pause the provider asked for is kept', {}, failure(429, { retryAfterMs: 900 }), { at: 0, delayMs: 900 }],
    ['a pause that is too long: the next', {}, failure(429, { retryAfterMs: 1001 }), { at: 1, delayMs: 0 }],
    ['a time-out is transient', {}, failure(524, { reason: 'timeout' }), { at: 0, delayMs: 75 }],
    ['a bad response is transient', {}, failure(502, { reason: 'bad_response' }), { at: 0, delayMs: 75 }],
    ["the operator's key was refused: the next", {}, failure(401), { at: 1, delayMs: 0 }],
    ["the operator's key was refused at the last: none", { at: 2 }, failure(403), null],
    ['the model is not there: the next', {}, failure(404), { at: 1, delayMs: 0 }],
    ["the caller's fault: the first target of the next model", {}, failure(400), { at: 2, delayMs: 0 }],
    [
      'a part of the request that the endpoint has no word for: the next, whatever its model',
      {},
      failure(400, { isUnsent: true }),
      { at: 1, delayMs: 0 },
    ],
    ["the caller's fault at the last model: none", { at: 2 }, failure(400), null],
    ['a key is rate limited: the next key, at once', { targets: keys }, failure(429), { at: 1, delayMs: 0 }],
    ['a key was refused: the next key', { targets: keys }, failure(401), { at: 1, delayMs: 0 }],
    ['the last key was refused: the next endpoint', { targets: keys, at: 1 }, failure(401), { at: 2, delayMs: 0 }],
    ['all keys meet an outage: the same key', { targets: keys }, failure(503), { at: 0, delayMs: 75 }],
    ['an outage goes on: the next endpoint', { targets: keys, attempts: 2 }, failure(503), { at: 2, delayMs: 0 }],
    [
      'the last key of the last endpoint is rate limited: the same, after the pause',
      { targets: keys.slice(0, 2), at: 1 },
      failure(429, { retryAfterMs: 900 }),
      { at: 1, delayMs: 900 },
    ],
    ['the content was refused: no other key', { targets: keys }, failure(403, { fault: 'caller' }), null],
    ['a BYOK credential was refused: the next', { targets: byok }, failure(401), { at: 1, delayMs: 0 }],
    ['a BYOK credential is rate limited: the next, at once', { targets: byok }, failure(429), { at: 1, delayMs: 0 }],
    ['a BYOK credential meets an outage: the same target', { targets: byok }, failure(503), { at: 0, delayMs: 75 }],
    ['a refused BYOK credential at the last target: none', { targets: [target(0, true)] }, failure(401), null],
  ])('%s', (_, { targets = operators, at = 0, attempts = 1 }, error, expected) => {
    expect(chooseNext(targets, at, attempts, error, retry, () => 0.5)).toEqual(expected);
  });
  it('the backoff doubles with each attempt, less a random part of up to half', () => {
    const delay = (attempts: number, random: number) =>
      chooseNext(operators, 0, attempts, failure(500), { ...retry, attemptsPerEndpoint: 9 }, () => random)?.delayMs;
    expect([delay(1, 0), delay(2, 0), delay(3, 0), delay(4, 0)]).toEqual([100, 200, 250, 250]);
    expect([delay(1, 0.999), delay(2, 0.5)]).toEqual([50, 150]);
  });
});
