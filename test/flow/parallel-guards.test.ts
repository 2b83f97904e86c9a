import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import { blockedBy, defineGuardrail, type Guardrail } from '../../src/guardrails/guardrail.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { moderation } from '../../src/plugins/moderation/index.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { checkError, hello, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
const metadata = { 'x-service-metadata': 'enabled' };

/** A guardrail that decides when the test says so. */
function slowGuard(more: Partial<Guardrail> = {}) {
  const verdict = Promise.withResolvers<void>();
  const guard: Guardrail = defineGuardrail({
    id: 'slow',
    mode: 'parallel',
    async before(request, context) {
      try {
        await verdict.promise;
      } catch {
        throw blockedBy(guard, ['bad'], context, 'input');
      }
      return request;
    },
    ...more,
  });
  return { guard, pass: () => verdict.resolve(), refuse: () => verdict.reject(new Error('bad')) };
}

const gatewayWith = (guard: Guardrail, options: Partial<GatewayOptions> = {}) =>
  testGateway({ guardrails: [guard], ...options });
const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a guardrail beside the model', () => {
  it.each([false, true])(
    'asks the model at once, and the response waits for the verdict; stream: %s',
    async (stream) => {
      const { guard, pass } = slowGuard();
      const test = gatewayWith(guard);
      test.upstream.always({ body: stream ? textStream('Hel', 'lo') : completion() });
      let isThere = false;
      const response = test.post({ ...ask, stream }).then((given) => {
        isThere = true;
        return given;
      });
      await turns();
      expect([test.upstream.sent.length, isThere]).toEqual([1, false]);
      pass();
      const { status, text } = await response;
      expect([status, text.includes('lo')]).toEqual([200, true]);
    },
  );
  it.each([false, true])(
    'refuses what the model has written, books it, and shows none of it; stream: %s',
    async (stream) => {
      const { guard, refuse } = slowGuard();
      const test = gatewayWith(guard);
      await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
      test.upstream.always({ body: stream ? textStream('Hel', 'lo') : completion() });
      const response = test.post({ ...ask, stream }, metadata);
      await turns();
      refuse();
      const { status, json, text } = await response;
      checkError(403, json);
      expect([status, json.error.metadata?.patterns, text.includes('Hel')]).toEqual([403, ['bad'], false]);
      expect(json.service_metadata?.pipeline).toMatchObject([{ type: 'guardrail', guardrail_id: 'slow' }]);
      await turns();
      expect(test.records[0]).toMatchObject({ status: 403, outcome: 'failed' });
      const cost = test.records[0]?.costNanoUsd as number;
      expect(cost).toBeGreaterThan(0);
      const { data } = (await test.call('GET', '/workspaces/default/budgets')).json;
      expect([Math.round(data[0].spent_usd * 1e9), data[0].held_usd]).toEqual([cost, 0]);
    },
  );
  it('stops a model that is still working as soon as it refuses', async () => {
    for (const stream of [false, true]) {
      const { guard, refuse } = slowGuard();
      const test = gatewayWith(guard);
      const never = new Promise<void>(() => undefined);
      test.upstream.answer(
        stream ? { body: [sse(chunk({ role: 'assistant', content: 'Hel' })), { until: never }] } : { instead: 'hang' },
      );
      const response = test.post({ ...ask, stream });
      await turns();
      refuse();
      expect((await response).status).toBe(403);
      await turns();
      expect([stream, test.upstream.sent[0]?.closedAtMs]).toEqual([stream, test.clock.now()]);
      expect(test.gateway.state().requestsInFlight).toBe(0);
    }
  });
  it('lets an error of the provider through at once, and one of its own come after it unheard', async () => {
    const { guard, refuse } = slowGuard();
    const test = gatewayWith(guard);
    test.upstream.always({ status: 400, body: { error: { message: 'no such parameter' } } });
    expect((await test.post(ask)).status).toBe(400);
    refuse();
    await turns();
  });
  it('may not change the request: it is on its way to the model', async () => {
    const guard = defineGuardrail({
      id: 'changing',
      mode: 'parallel',
      before: (request) => ({ ...request, user: 'x' }),
    });
    const lines: unknown[] = [];
    const log = (...given: unknown[]) => void lines.push(given);
    const test = gatewayWith(guard, { logger: { info: log, warn: log, error: log } });
    test.upstream.always({ body: completion() });
    const { status, json } = await test.post(ask);
    expect([status, json.error.message]).toEqual([500, 'The guardrail "changing" failed']);
    expect(JSON.stringify(lines, (_, one) => (one instanceof Error ? one.message : one))).toContain('mode parallel');
  });
  it('has its time: a verdict that does not come is a 504', async () => {
    const test = gatewayWith(slowGuard().guard, { timeouts: { pluginMs: 1_000 } });
    test.upstream.always({ body: completion() });
    const response = test.post(ask);
    await turns();
    await test.clock.advance(1_001);
    expect((await response).status).toBe(504);
  });
  it('comes after guardrails that change the request, and sees what they have left', async () => {
    const seen: unknown[] = [];
    const guard = defineGuardrail({
      id: 'beside',
      mode: 'parallel',
      before(request) {
        seen.push(request.messages[0]?.content);
        return request;
      },
    });
    const redacting = textGuardrail({ id: 'pii', patterns: [{ builtin: 'email', action: 'redact' }] });
    const test = testGateway({ guardrails: [redacting, guard] });
    test.upstream.always({ body: completion() });
    await test.post({ ...ask, messages: [{ role: 'user', content: 'bob@example.com' }] });
    expect(seen).toEqual(['[REDACTED:email]']);
  });
  it('is refused without the hook that it is for', () => {
    expect(() => defineGuardrail({ id: 'g', mode: 'parallel', steps: () => [] })).toThrow('mode');
    expect(() => defineGuardrail({ id: 'g', mode: 'beside' as never, before: (request) => request })).toThrow('mode');
    expect(() => definePlugin({ id: 'p', mode: 'parallel' })).toThrow('mode');
  });
});

describe('moderation beside the model', () => {
  const classify = (isFlagged: boolean) => {
    const asked: string[][] = [];
    const verdict = Promise.withResolvers<void>();
    const moderator = {
      name: 'House',
      model: 'house-1',
      isLocal: true,
      async classify(texts: readonly string[]) {
        asked.push([...texts]);
        await verdict.promise;
        return texts.map(() => ({ flagged: isFlagged, reasons: isFlagged ? ['violence'] : [] }));
      },
    };
    return { moderator, asked, decide: () => verdict.resolve() };
  };

  it.each([false, true])('asks both at once; flagged: %s', async (isFlagged) => {
    const { moderator, asked, decide } = classify(isFlagged);
    const test = testGateway({
      plugins: [moderation({ isDefault: true, moderator, mode: 'parallel' })],
    });
    test.upstream.always({ body: completion() });
    const response = test.post(ask);
    await turns();
    // Its hook before each attempt has nothing to add.
    expect([asked.length, test.upstream.sent.length]).toEqual([1, 1]);
    decide();
    expect((await response).status).toBe(isFlagged ? 403 : 200);
  });
});

describe('a guardrail of the host app that fails', () => {
  const failing = (onError: Guardrail['onError'], hooks: Partial<Guardrail> = {}) =>
    defineGuardrail({
      id: 'classifier',
      name: 'Our classifier',
      ...(onError && { onError }),
      before: () => Promise.reject(new Error('The classifier is away')),
      ...hooks,
    });
  const opened = (guard: Guardrail) => {
    const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
    const at = (level: string) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Record<string, unknown>, message });
    const test = gatewayWith(guard, { logger: { info: at('info'), warn: at('warn'), error: at('error') } });
    test.upstream.always({ body: completion() });
    return { ...test, lines };
  };

  it('fails the call, unless its option says in plain words that unchecked content may pass', async () => {
    const strict = opened(failing(undefined));
    expect((await strict.post(ask)).status).toBe(500);
    const lenient = opened(failing('pass-unchecked'));
    const { status, json } = await lenient.post(ask, metadata);
    expect([status, json.choices?.[0]?.message.content]).toEqual([200, 'Hello there']);
    expect(json.service_metadata?.pipeline).toEqual([
      {
        type: 'guardrail',
        name: 'Our classifier',
        summary: 'failed: what it should have checked passed unchecked',
        guardrail_id: 'classifier',
        guardrail_scope: 'gateway',
        data: { hook: 'before', reason: 'error' },
      },
    ]);
    expect(lenient.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { guardrail: 'classifier', hook: 'before' }, message: 'A guardrail failed: unchecked content passed' },
    ]);
    expect(lenient.records[0]?.pipeline).toMatchObject([{ name: 'Our classifier' }]);
  });
  it('passes unchecked in parallel, in its steps, and where it takes too long', async () => {
    const parallel = opened(failing('pass-unchecked', { mode: 'parallel' }));
    expect((await parallel.post(ask)).status).toBe(200);
    const inSteps = opened(
      failing('pass-unchecked', {
        before: (request) => request,
        steps: () => [
          {
            push() {
              throw new Error('away');
            },
          },
        ],
      }),
    );
    const { status, json } = await inSteps.post(ask);
    expect([status, json.choices?.[0]?.message.content]).toEqual([200, 'Hello there']);
    const slow = opened(failing('pass-unchecked', { before: () => new Promise(() => undefined) }));
    const response = slow.post(ask, metadata);
    await turns();
    await slow.clock.advance(60_001);
    expect((await response).json.service_metadata?.pipeline).toMatchObject([{ data: { reason: 'timeout' } }]);
  });
  it('still refuses what it decides to refuse', async () => {
    const refusing = opened(
      failing('pass-unchecked', {
        before: () => Promise.reject(new GatewayError('guardrail_blocked', 'No')),
      }),
    );
    expect((await refusing.post(ask)).status).toBe(403);
  });
  it('takes no other word', () => {
    for (const onError of ['skip', 'pass', true]) expect(() => failing(onError as never)).toThrow('onError');
  });
});

describe('the engine of regular expressions', () => {
  it('is loaded when the gateway is made, once, and before a request needs it', async () => {
    let loads = 0;
    const guard = defineGuardrail({
      id: 'loading',
      before: (request) => request,
      load() {
        loads++;
        return Promise.reject(new Error('later'));
      },
    });
    const test = gatewayWith(guard);
    expect(loads).toBe(1);
    test.upstream.always({ body: completion() });
    expect([(await test.post(ask)).status, loads]).toEqual([200, 1]);
    for (const pattern of [{ regex: 'a+b', name: 'ab' }, { builtin: 'email' }] as const)
      await expect(
        textGuardrail({ id: 'a', patterns: [{ ...pattern, action: 'block' }] }).load?.(),
      ).resolves.toBeUndefined();
  });
});
