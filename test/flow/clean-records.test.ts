import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import type { OperationRecord } from '../../src/telemetry/record.ts';
import { type Answer, hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

/** A line of its own, a terminal sequence, letters that go the other way, half a character. */
const dirt = 'x\n{"level":"error"}\u001b[31m\u202eevil\u2028\u0007\ud800';
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
const unclean = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Every text in a value, however deep, keys included. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

function expectClean(value: unknown, longest = 600): void {
  for (const text of textsIn(value)) {
    expect(text).not.toMatch(unclean);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(longest);
  }
}

/** A gateway whose logs and records are kept. */
function watched(options: Partial<GatewayOptions> = {}) {
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const operations: OperationRecord[] = [];
  const tested = testGateway({
    logger: { info: note, warn: note, error: note },
    onOperation: (record) => operations.push(record),
    ...options,
  });
  tested.upstream.always({ body: completion() });
  const expectAllClean = (answer: Answer, statuses: readonly number[]) => {
    expect(statuses).toContain(answer.status);
    expectClean([lines, operations, tested.records, answer.json]);
  };
  return { ...tested, lines, expectAllClean };
}

describe('texts of callers and providers', () => {
  it('are clean and bounded in records, logs and errors', async () => {
    const { post, records, lines, expectAllClean } = watched();
    for (const model of [`acme/${dirt}`, `up/${dirt}`, dirt, `~a/${dirt}-latest`, `up/${'x'.repeat(240)}${dirt}`]) {
      for (const stream of [false, true]) expectAllClean(await post({ model, messages: hello, stream }), [400]);
    }
    expect(records[0]?.requested).toBe('acme/x {"level":"error"}evil \ufffd');
    expect(JSON.stringify(lines[0])).toContain('acme/x ');
    const excluded = { models: Array.from({ length: 20 }, (_, at) => `up/${at}${'m'.repeat(240)}`), messages: hello };
    expectAllClean(await post({ ...excluded, provider: { only: ['nobody'] } }), [404]);
  });

  it('are clean where they name conversations, fields, plugins and users', async () => {
    const { post, records, expectAllClean } = watched();
    const ask = { model: 'acme/fast', messages: hello };
    expectAllClean(await post({ ...ask, session_id: `${dirt}${'😀'.repeat(180)}` }), [200]);
    expect(records.at(-1)?.sessionId).toMatch(/^x \{"level":"error"\}evil/);
    for (const fields of [
      { provider: { [dirt]: 1 } },
      { metadata: { [dirt]: 1 } },
      { logit_bias: { [dirt]: 'x' } },
      { plugins: [{ id: dirt }] },
      { tools: [{ type: `a:${dirt}` }] },
    ])
      expectAllClean(await post({ ...ask, ...fields }), [400]);
    const byHost = watched({
      authenticate: () => ({ permissions: ['inference'] as const, userId: `${dirt}${'u'.repeat(5000)}` }),
    });
    await byHost.post(ask);
    expectClean([byHost.records, byHost.lines]);
    expect(byHost.records[0]?.userId).toMatch(/^x \{"level":"error"\}evil/);
  });

  it('are clean where a provider writes them', async () => {
    const tested = watched();
    const answer = completion({
      choices: [
        { index: 0, message: { content: 'Hi' }, finish_reason: `${dirt.replace('error', 'info')}${'y'.repeat(5000)}` },
      ],
    });
    tested.upstream.always({ body: answer, headers: { 'x-request-id': 'r'.repeat(5000) } });
    const { status, text } = await tested.post({ model: 'acme/fast', messages: hello });
    expect([status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    expectClean([tested.records, tested.lines]);
    expect(tested.records[0]?.nativeFinishReason?.length).toBe(100);
  });

  it('are as they were where there is nothing to clean', async () => {
    const { post, records } = watched();
    const model = 'up/Modèle 模型 🚀-v1.5_x@y';
    const { status, json } = await post({ model, messages: hello, session_id: 'Gespräch 7 🙂' });
    expect([status, json.model]).toEqual([200, model]);
    expect(records[0]).toMatchObject({ requested: model, model, sessionId: 'Gespräch 7 🙂' });
  });
});
