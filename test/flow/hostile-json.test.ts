import { afterEach, describe, expect, it } from 'vitest';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { bytesOf, resultOf } from '../support/hostile.ts';
import { readSaidStream } from '../support/recordings.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { replayGateway } from '../support/replay.ts';

async function answered(
  body: string | Uint8Array,
  options: { stream?: boolean; status?: number; headers?: Record<string, string> } = {},
) {
  const { stream = false, status, headers } = options;
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const replay = replayGateway({ logger: { info: note, warn: note, error: note } });
  const answer = await replay.send({ status, headers, pieces: body.length === 0 ? [] : [bytesOf(body)] }, { stream });
  return { ...answer, replay, lines: JSON.stringify(lines) };
}

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const noAnswers: [name: string, body: string | Uint8Array][] = [
  ['nothing', ''],
  ['white space', ' \r\n\t '],
  ['a page of HTML', '<!doctype html><html><body>Bad gateway</body></html>'],
  ['plain text', 'upstream connect error'],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00, 0x80, 0x7b])],
  ['JSON that is cut', JSON.stringify(resultOf()).slice(0, -5)],
  ['two answers', JSON.stringify(resultOf()).repeat(2)],
  ['null', 'null'],
  ['a text', '"done"'],
  ['a list', JSON.stringify([resultOf()])],
  ['an object without choices', '{}'],
  ['choices null', JSON.stringify(resultOf({ choices: null }))],
  ['no choices', JSON.stringify(resultOf({ choices: [] }))],
  ['choices that are no objects', JSON.stringify(resultOf({ choices: [null, 7] }))],
  ['a choice without a message', JSON.stringify(resultOf({ choices: [{ index: 0, finish_reason: 'stop' }] }))],
  ['an error with a success status', JSON.stringify({ error: { message: 'Out of GPUs' } })],
  ['an error beside an answer', JSON.stringify(resultOf({ error: { message: 'Out of GPUs' } }))],
  ['an answer that was broken off', JSON.stringify(resultOf({}, {}, { finish_reason: 'error' }))],
  ['a tool call without a function', JSON.stringify(resultOf({}, { tool_calls: [{ id: 'x' }] }))],
  ['brackets, a million deep', deep(1_000_000)],
  ['a million opening brackets', '['.repeat(1_000_000)],
  ['objects, 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['an answer that nests deep', JSON.stringify(resultOf()).replace('"usage"', `"more":${deep(200)},"usage"`)],
  ['a content that nests deep', JSON.stringify(resultOf()).replace('"Hello"', deep(100_000))],
];

function saysUsage(body: string | Uint8Array): boolean {
  try {
    const { usage } = JSON.parse(String(body));
    return usage !== undefined && !String(body).includes('[[[');
  } catch {
    return false;
  }
}

describe('an upstream that answers with', () => {
  it.each(noAnswers)('%s is a 502 of bounded size', async (_, body) => {
    for (const stream of [false, true]) {
      const answer = await answered(body, { stream });
      expect([stream, answer.status], answer.text.slice(0, 300)).toEqual([stream, 502]);
      expect(answer.text.length).toBeLessThan(1500);
      expect(JSON.parse(answer.text).error).toMatchObject({
        code: 502,
        message: expect.any(String),
        metadata: { provider_name: 'replay' },
      });
      if (sharedAvailable) expect(validateAgainstReference('BadGatewayResponse', JSON.parse(answer.text))).toEqual([]);
      const { outcome, costNanoUsd } = answer.replay.lastRecord();
      expect([answer.replay.letGo(), outcome]).toEqual([true, 'failed']);
      // It costs what it says was used, else its prompt: the provider may have read it.
      expect(costNanoUsd).toBe(saysUsage(body) ? 20_000 : 10_000);
    }
  });

  it.each([201, 202, 203, 206])('status %i and an answer is taken at its body', async (status) => {
    expect((await answered(JSON.stringify(resultOf()), { status })).status).toBe(200);
    expect((await answered(JSON.stringify(resultOf()).slice(0, 50), { status })).status).toBe(502);
  });

  it.each([204, 205, 300, 301, 302, 303, 304, 307, 308, 399])('status %i is a 502', async (status) => {
    for (const stream of [false, true])
      expect((await answered('', { status, stream, headers: { location: 'http://127.0.0.1:1/' } })).status).toBe(502);
  });

  it.each([0, 99, 199, 600, 999])('the impossible status %i is a failure all the same', async (status) => {
    expect((await answered(JSON.stringify(resultOf()), { status })).status).toBeGreaterThanOrEqual(500);
  });

  it('an answer that has everything wrong but its text gives a valid result', async () => {
    const body = JSON.stringify({
      id: 7,
      object: null,
      created: 'now',
      model: {},
      system_fingerprint: 5,
      service_tier: 1,
      provider: {},
      usage: 'none',
      choices: [
        {
          index: -4,
          logprobs: 'no',
          message: {
            role: 7,
            content: 'Hello',
            refusal: 9,
            reasoning: 5,
            tool_calls: 'x',
            audio: 'x',
            images: 'x',
            annotations: {},
            reasoning_details: [3],
            function_call: null,
          },
          finish_reason: 42,
        },
      ],
    });
    const answer = await answered(body);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    const result = JSON.parse(answer.text);
    expect(chatResultSchema().safeParse(result).error).toBeUndefined();
    if (sharedAvailable) expect(validateAgainstReference('ChatResult', result)).toEqual([]);
    expect(result.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Hello' },
    });
    const streamed = await answered(body, { stream: true });
    expect(readSaidStream(streamed.text)).toMatchObject({
      error: null,
      isDone: true,
      usageCount: 1,
      choices: { 0: { content: 'Hello', finish: 'stop' } },
    });
  });

  it('a finish_reason named like a method of objects gives an ordinary end', async () => {
    for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const answer = await answered(JSON.stringify(resultOf({}, {}, { finish_reason: word })));
      expect(JSON.parse(answer.text).choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: word });
    }
  });

  it('very long texts and arguments keeps them', async () => {
    const long = 'é"\\\u2028'.repeat(500_000);
    const call = { id: 'call_1', type: 'function', function: { name: 'write', arguments: JSON.stringify({ long }) } };
    for (const stream of [false, true]) {
      const { text, status } = await answered(
        JSON.stringify(resultOf({}, { content: long, tool_calls: [call] }, { finish_reason: 'tool_calls' })),
        { stream },
      );
      expect(status).toBe(200);
      expect(text).toContain(JSON.stringify(JSON.stringify({ long })).slice(1, -1));
    }
  });
});

describe('an error text', () => {
  const dirty =
    'bad\r\nSet-Cookie: a=b\r\n\r\n{"level":"fake"}\n\u001b[31mred\u001b[0m\u0000\u2028\u2029\u0007\u202eevil\u0085\u009b2J end';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/;

  it.each([
    ['as JSON', (text: string) => JSON.stringify({ error: { message: text, code: text, type: text } })],
    ['as a text of JSON', (text: string) => JSON.stringify(text)],
    ['plain', (text: string) => text],
    ['in a list', (text: string) => JSON.stringify([{ error: { message: text } }])],
  ])('%s is bounded, and clean of what breaks lines, headers and terminals', async (_, write) => {
    for (const text of [
      dirty,
      dirty.repeat(10_000),
      'x'.repeat(1_000_000),
      '\u0000'.repeat(1_000_000),
      '\ud800'.repeat(1000),
    ]) {
      for (const status of [400, 429, 500]) {
        const answer = await answered(write(text), { status, headers: { 'retry-after': '1\r\nx-injected: yes' } });
        expect(answer.status).toBe(status === 500 ? 502 : status);
        expect(answer.text.length).toBeLessThan(4000);
        const { error } = JSON.parse(answer.text);
        expect(control.test(error.message + JSON.stringify(error.metadata).replaceAll('\\', ''))).toBe(false);
        expect(error.message.length).toBeLessThanOrEqual(500);
        expect(error.message.isWellFormed()).toBe(true);
        expect(control.test(answer.lines)).toBe(false);
        expect(answer.lines).not.toContain('fake');
      }
    }
  });

  it('that nests deep, or names many things, is survived', async () => {
    for (const body of [
      deep(30_000),
      `{"error":${deep(20_000)}}`,
      `{"error":{"message":${deep(20_000)}}}`,
      '{"error":'.repeat(5000),
      '{"error":{"message":null,"code":{},"type":[]}}',
      '{"error":[]}',
      '{"detail":[{"msg":"x"}]}',
    ]) {
      const answer = await answered(body, { status: 400 });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text).error.message).toMatch(/^.{1,500}$/);
    }
  });

  it('that is a page of HTML is not shown', async () => {
    const answer = await answered(`<html><script>alert(1)</script>${'x'.repeat(5000)}</html>`, { status: 503 });
    expect(answer.status).toBe(529);
    expect(answer.text).not.toContain('script');
    expect(JSON.parse(answer.text).error.message).toBe('The provider responded with status 503.');
  });
});

describe('prototype keys', () => {
  const polluting =
    '"__proto__":{"polluted":"yes","role":"x","content":"evil"},"constructor":{"prototype":{"polluted":"yes"}},"toString":1,"hasOwnProperty":2';
  const polluted = () =>
    (({}) as { polluted?: string }).polluted ??
    ([] as { polluted?: string }).polluted ??
    (Object as { polluted?: string }).polluted;

  afterEach(() => {
    expect(polluted()).toBeUndefined();
  });

  it('in a whole answer pollute nothing, and the answer keeps its text', async () => {
    const body = JSON.stringify(resultOf())
      .replace('{"index"', `{${polluting},"index"`)
      .replace('{"role"', `{${polluting},"role"`)
      .replace('{"id"', `{${polluting},"id"`)
      .replace('"usage":{', `"usage":{${polluting},`);
    for (const stream of [false, true]) {
      const answer = await answered(body, { stream });
      expect(answer.status).toBe(200);
      if (stream) expect(readSaidStream(answer.text).choices[0]).toMatchObject({ content: 'Hello', finish: 'stop' });
      else
        expect(JSON.parse(answer.text)).toMatchObject({
          choices: [{ message: { role: 'assistant', content: 'Hello' } }],
          usage: { total_tokens: 15 },
        });
    }
  });

  it('in a stream pollute nothing, and a folded answer keeps its text', async () => {
    const chunk = (delta: string, reason = 'null') =>
      `data: {${polluting},"choices":[{${polluting},"index":0,"delta":{${delta}},"finish_reason":${reason}}]}\n\n`;
    const body = chunk(`${polluting},"content":"Hel"`) + chunk(`${polluting},"content":"lo"`) + chunk('', '"stop"');
    const streamed = await answered(body, { stream: true });
    expect(readSaidStream(streamed.text)).toMatchObject({ error: null, choices: { 0: { content: 'Hello' } } });
    const folded = await answered(body);
    expect(JSON.parse(folded.text).choices[0].message).toMatchObject({ role: 'assistant', content: 'Hello' });
    expect(JSON.parse(folded.text).choices[0].message.constructor).toEqual({ prototype: { polluted: 'yes' } });
  });
});
