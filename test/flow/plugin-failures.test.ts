import { describe, expect, it } from 'vitest';
import type { PluginContext, PluginHooks } from '../../src/call/hooks.ts';
import { defineGuardrail } from '../../src/guardrails/guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { moderation } from '../../src/plugins/moderation/index.ts';
import { definePlugin, type Plugin } from '../../src/plugins/plugin.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import {
  askIn,
  type Failure,
  type Format,
  fail,
  failingHooks,
  formats,
  secretText,
  textOfChunk,
  withText,
} from '../support/failing-hooks.ts';
import { chatRequest, hello, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const isStream = (format: Format) => format.startsWith('a stream');

function gatewayWith(hooks: PluginHooks, onError: Plugin['onError'], options: Partial<GatewayOptions> = {}) {
  const plugin = definePlugin({ id: 'test', isDefault: true, ...(onError ? { onError } : {}), ...hooks });
  return testGateway({ plugins: [plugin], ...options });
}

/** A gateway whose upstream says the text. */
function answering(format: Format, hooks: PluginHooks, onError: Plugin['onError'], options = {}) {
  const test = gatewayWith(hooks, onError, options);
  test.upstream.always({ body: isStream(format) ? textStream('Hello ', 'there') : completion() });
  return test;
}

const hooks = ['before', 'prepare', 'wrap', 'steps', 'push', 'end'];
/** `wrap` has no limit of its own, and `steps` cannot wait. */
const mayHang = hooks.filter((name) => name !== 'wrap' && name !== 'steps');
const cases = hooks.flatMap((name) =>
  (mayHang.includes(name) ? (['throw', 'hang'] as const) : (['throw'] as const)).map((how): [string, Failure] => [
    name,
    how,
  ]),
);

describe.each(formats)('%s', (format) => {
  it.each(cases)('fails where %s of a plugin fails: %s', async (name, how) => {
    const errors: object[] = [];
    const logger = { info: () => undefined, warn: () => undefined, error: (fields: object) => errors.push(fields) };
    const test = answering(format, failingHooks(name, how), undefined, { logger });
    const { hasError, sent } = await askIn(format, test);
    expect(hasError).toBe(true);
    expect(test.records[0]?.status).toBe(how === 'hang' ? 504 : 500);
    expect(sent).not.toContain(secretText);
    if (how === 'hang') expect(sent).toContain('The plugin \\"test\\" took longer than 60000 ms');
    else {
      expect(sent).toContain('The plugin \\"test\\" failed');
      expect(errors).toMatchObject([{ plugin: 'test', hook: expect.any(String), error: { message: secretText } }]);
    }
  });
  it.each(cases)('goes on without %s of a plugin that may be skipped: %s', async (name, how) => {
    const warnings: object[] = [];
    const logger = { info: () => undefined, warn: (fields: object) => warnings.push(fields), error: () => undefined };
    const test = answering(format, failingHooks(name, how), 'skip', { logger });
    const { text, hasError, sent, pipeline } = await askIn(format, test);
    expect([text, hasError, test.records[0]?.status]).toEqual(['Hello there', false, 200]);
    const hook = name === 'push' || name === 'end' ? 'steps' : name;
    const [reason, summary] =
      how === 'hang' ? ['timeout', 'took too long and was skipped'] : ['error', 'failed and was skipped'];
    expect(pipeline).toEqual([{ type: 'plugin', name: 'test', summary, data: { hook, reason } }]);
    expect(warnings).toMatchObject([{ plugin: 'test', hook, error: expect.any(Error) }]);
    expect(sent).not.toContain(secretText);
  });
  it.each(hooks)('fails where %s refuses, whatever onError says', async (name) => {
    const test = answering(format, failingHooks(name, 'refuse'), 'skip');
    const { hasError, sent } = await askIn(format, test);
    expect([hasError, test.records[0]?.status]).toEqual([true, 403]);
    expect(sent).toContain('Not on Sundays');
  });
  it.each(cases)('fails where %s of a guardrail fails, which is never skipped: %s', async (name, how) => {
    const guardrail = defineGuardrail({ id: 'guard', ...failingHooks(name, how) });
    const test = testGateway({ guardrails: [guardrail] });
    test.upstream.always({ body: isStream(format) ? textStream('Hello ', 'there') : completion() });
    expect((await askIn(format, test)).hasError).toBe(true);
    expect(test.records[0]?.status).toBe(how === 'hang' ? 504 : 500);
  });
});

describe('a wrap', () => {
  it('that hangs ends with the time of the call', async () => {
    const test = answering('JSON', failingHooks('wrap', 'hang'), 'skip');
    await askIn('JSON', test);
    expect(test.records).toMatchObject([{ status: 408 }]);
  });
  it('that has generated is not skipped: the response would be paid for twice', async () => {
    const test = answering(
      'JSON',
      {
        async wrap(generate, request) {
          await generate(request);
          return fail('throw');
        },
      },
      'skip',
    );
    const { hasError } = await askIn('JSON', test);
    expect([hasError, test.records[0]?.status, test.upstream.sent.length]).toEqual([true, 500, 1]);
    expect(test.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('that was skipped generates nothing later', async () => {
    let late: () => Promise<unknown> = async () => undefined;
    const wrap: PluginHooks['wrap'] = (generate, request) => {
      late = () => generate(request);
      return fail('throw');
    };
    const test = answering('JSON', { wrap }, 'skip');
    await askIn('JSON', test);
    await expect(late()).rejects.toThrow('Nobody waits');
    expect(test.upstream.sent).toHaveLength(1);
  });
});

describe('what a step holds back when it fails', () => {
  /** Holds everything, or passes on in another form, and fails at the last text. */
  const step = (pass: (one: ChatChunk) => readonly ChatChunk[]): PluginHooks => ({
    steps: () => [
      {
        push: (one) => (textOfChunk(one) === 'there' ? (fail('throw') as never) : pass(one)),
      },
    ],
  });

  it('goes on, where the step has let nothing through but what it got', async () => {
    for (const pass of [() => [], (one: ChatChunk) => [one]]) {
      const test = answering('a stream', step(pass), 'skip');
      expect(await askIn('a stream', test)).toMatchObject({ text: 'Hello there', hasError: false });
    }
  });
  it('is lost where the step has changed the response, which is then never passed off as complete', async () => {
    const shout = (one: ChatChunk) => [withText(one, textOfChunk(one).toUpperCase())];
    const test = answering('a stream', step(shout), 'skip');
    const { text, hasError } = await askIn('a stream', test);
    expect([text, hasError, test.records[0]?.status]).toEqual(['HELLO ', true, 500]);
  });
  it('is lost where the step has annotated the response', async () => {
    const hooks: PluginHooks = {
      steps: ({ addAnnotations }) => [
        {
          push(one) {
            addAnnotations([{ type: 'note' }]);
            return textOfChunk(one) === 'there' ? (fail('throw') as never) : [one];
          },
        },
      ],
    };
    const test = answering('a stream', hooks, 'skip');
    expect((await askIn('a stream', test)).hasError).toBe(true);
  });
});

describe('a hook that takes too long', () => {
  it('has its signal aborted, its money booked as it was held, and changes nothing any more', async () => {
    let context: PluginContext | undefined;
    let spend: (nanoUsd: number) => void = () => undefined;
    const before: PluginHooks['before'] = async (_request, given) => {
      context = given;
      const expense = await given.hold(5_000);
      spend = expense.settle;
      given.addAnnotations([{ type: 'too early' }]);
      return fail('hang');
    };
    const test = answering(
      'JSON',
      {
        before,
        wrap: (generate, request) => {
          spend(1);
          context?.addStage({ type: 'plugin', name: 'late', summary: 'late' });
          context?.addAnnotations([{ type: 'late' }]);
          return generate(request);
        },
      },
      'skip',
      { timeouts: { pluginMs: 50 } },
    );
    const { sent, pipeline } = await askIn('JSON', test);
    expect(context?.signal.aborted).toBe(true);
    await expect(context?.hold(1)).rejects.toThrow('Nobody waits');
    expect(pipeline.map(({ name }) => name)).toEqual(['test']);
    expect(sent).not.toMatch(/late"|too early/);
    // 10 prompt and 2 completion tokens, and what was held.
    expect(test.records[0]?.costNanoUsd).toBe(36_000 + 5_000);
  });
  it('is not waited for when the client leaves, or when the time of the call is up', async () => {
    for (const name of ['before', 'prepare', 'wrap', 'push', 'end']) {
      const test = answering('JSON', failingHooks(name, 'hang'), 'skip', { timeouts: { pluginMs: 500_000 } });
      const client = new AbortController();
      const request = { model: 'acme/pair', messages: hello };
      const sent = test.send(request, {}, client.signal).catch(() => undefined);
      await test.clock.advance(10);
      client.abort();
      await test.clock.advance(1);
      await sent;
      expect([name, test.records.map(({ outcome }) => outcome)]).toEqual([name, ['cancelled']]);
      const late = await test.run(test.gateway.fetch(chatRequest(request, { 'x-service-timeout-ms': '1000' })));
      expect([name, late.status]).toEqual([name, 408]);
    }
  });
  it('has all its time where it asks for no promise, and each call of a step its own', async () => {
    let at = 0;
    const hooks: PluginHooks = {
      steps: ({ clock }) => [
        {
          isAsync: true,
          push: (one) => new Promise((resolve) => clock.after(40, () => resolve(at++ < 0 ? [] : [one]))),
        },
      ],
    };
    const test = answering('a stream', hooks, undefined, { timeouts: { pluginMs: 50 } });
    expect(await askIn('a stream', test)).toMatchObject({ text: 'Hello there', hasError: false });
    expect(at).toBeGreaterThan(2);
  });
});

describe('foresee', () => {
  const explain = (how: Failure, onError: Plugin['onError']) => {
    const test = gatewayWith({ foresee: () => fail(how), wrap: (generate, request) => generate(request) }, onError);
    return test.call('POST', '/chat/completions/explain', { model: 'acme/pair', messages: hello });
  };
  it('that fails ends the explanation, or is left out where it may be skipped', async () => {
    expect((await explain('throw', undefined)).status).toBe(500);
    expect((await explain('hang', undefined)).status).toBe(504);
    expect((await explain('refuse', 'skip')).status).toBe(403);
    for (const how of ['throw', 'hang'] as const) {
      const { status, json } = await explain(how, 'skip');
      expect([status, json.data.candidates.length, json.data.generations]).toEqual([200, 2, undefined]);
    }
  });
});

describe('a function that says whether it acts', () => {
  const thrown = () => {
    throw new Error(secretText);
  };
  it.each<[string, Partial<GatewayOptions>, object]>([
    [
      'plugin',
      { plugins: [definePlugin({ id: 'test', actsOn: thrown, before: (request) => request })] },
      { plugin: 'test', hook: 'actsOn' },
    ],
    [
      'guardrail',
      { guardrails: [defineGuardrail({ id: 'test', appliesTo: thrown, before: (request) => request })] },
      { guardrail: 'test', hook: 'appliesTo' },
    ],
  ])('is named too where it throws (%s)', async (kind, options, fields) => {
    const errors: object[] = [];
    const logger = { info: () => undefined, warn: () => undefined, error: (one: object) => errors.push(one) };
    const { post, upstream } = testGateway({ ...options, logger });
    const { status, json, text } = await post({ model: 'acme/fast', messages: hello });
    expect([status, json.error.message, upstream.sent.length]).toEqual([500, `The ${kind} "test" failed`, 0]);
    expect(text).not.toContain(secretText);
    expect(errors).toMatchObject([{ ...fields, error: { message: secretText } }]);
  });
});

describe('onError', () => {
  it('is "fail" or "skip", and never "skip" for moderation', () => {
    const gateway = (plugin: object) => () => testGateway({ plugins: [plugin as Plugin] });
    expect(gateway({ id: 'a', onError: 'ignore' })).toThrow(/plugins\[0\]\.onError.*"fail", "skip"/s);
    expect(gateway({ ...moderation(), onError: 'skip' })).toThrow(/plugins\[0\]\.onError.*must not pass/s);
    expect(gateway({ ...moderation(), onError: 'fail' })).not.toThrow();
  });
});
