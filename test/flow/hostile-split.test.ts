import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { chunkOf, done, event, resultOf, stop, text } from '../support/hostile.ts';
import { payloadsOf } from '../support/recordings.ts';
import { runs } from '../support/runs.ts';

const apiKey = 'sk-proj-Abc123_def456-GHI789';
const token = 'proxy-token-0a1b2c3d4e5f';
const password = 'hunter2-hunter2-hunter2';
const headers = {
  'x-proxy-auth': token,
  authorization: `Bearer ${apiKey}`,
  'proxy-authorization': `Basic ${btoa(`operator:${password}`)}`,
  cookie: 'lang=en; sid=s%3Acookie-0123456789',
  'x-title': 'The Title Of The App',
};
const secrets = [apiKey, token, password, 's%3Acookie-0123456789', btoa(`operator:${password}`)];

/** What a client gets of a provider that sends this, and all that was recorded and logged. */
async function shown(body: string, { stream = false, status = 200, options = {} as Partial<GatewayOptions> } = {}) {
  const told: unknown[] = [];
  const note = (...line: unknown[]) => void told.push(line);
  const gateway = createGateway({
    providers: { up: { baseUrl: 'http://up.invalid/v1', apiKey, headers } },
    apiKeys: [{ key: 'hostile-test-key' }],
    onRecord: note,
    logger: { info: note, warn: note, error: note },
    retry: { maxAttempts: 1 },
    fetch: async () =>
      new Response(body, {
        status,
        headers: {
          'content-type': body.startsWith('data:') ? 'text/event-stream' : 'application/json',
          'x-request-id': `req-${apiKey}`,
        },
      }),
    ...options,
  });
  const response = await gateway.fetch('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer hostile-test-key', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'up/x', stream, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const answer = await response.text();
  await gateway.close();
  return { answer, told: JSON.stringify(told), said: stream ? saidIn(answer) : contentIn(answer) };
}

function contentIn(answer: string): string {
  return JSON.parse(answer).choices?.[0]?.message?.content ?? '';
}

interface Delta {
  audio?: { transcript?: string };
  reasoning_details?: { text?: string; summary?: string }[];
}

function deltasIn(answer: string) {
  return payloadsOf(answer)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload).choices?.[0]?.delta ?? {});
}

/** All text of a stream, in order. */
function saidIn(answer: string): string {
  return deltasIn(answer)
    .map(({ content, reasoning, tool_calls }) => content ?? reasoning ?? tool_calls?.[0]?.function?.arguments ?? '')
    .join('');
}

/** Nothing that helps: no more of a secret than a label would show of it. */
function expectHidden(said: string, secret: string, all = said): void {
  expect(all).not.toContain(secret);
  expect(said).not.toContain(secret.slice(0, 9));
  expect(said).not.toContain(secret.slice(-9));
}

const escaped = (secret: string) =>
  [...secret].map((sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const usual = text('one ') + text('two ') + text('three ');

describe('a secret that a provider shows', () => {
  it.each(secrets)('is taken out of a header of the operator, whole or in part: %s', async (secret) => {
    const body = JSON.stringify(resultOf({ note: secret }, { content: `You sent ${secret}.` }));
    const whole = await shown(body);
    expect(whole.said).toBe('You sent [redacted].');
    expect(whole.answer).not.toContain(secret);
    const streamed = await shown(usual + text(`You sent ${secret}.`) + stop + done, { stream: true });
    expect(streamed.said).toBe('one two three You sent [redacted].');
    for (const status of [400, 500]) {
      const failed = await shown(JSON.stringify({ error: { message: `No: ${secret}`, code: secret } }), { status });
      for (const all of [failed.answer, failed.told]) expect(all).not.toContain(secret);
    }
  });

  it('is not what every response may hold, but is taken out of errors all the same', async () => {
    const title = headers['x-title'];
    expect((await shown(JSON.stringify(resultOf({}, { content: title })))).said).toBe(title);
    const failed = await shown(JSON.stringify({ error: { message: `No: ${title}` } }), { status: 400 });
    expect(failed.answer).not.toContain(title);
  });

  it('is taken out of the id of the request, which is recorded', async () => {
    const { told } = await shown(JSON.stringify(resultOf()));
    expect(told).toContain('req-[redacted]');
    expect(told).not.toContain(apiKey);
  });

  it.each([apiKey, token])('is found where its characters are escaped: %s', async (secret) => {
    for (const spelled of [escaped(secret), escaped(secret).toUpperCase().replaceAll('\\U', '\\u'), `s\\u006b-${1}`]) {
      const isKey = spelled.length > 20;
      const result = JSON.stringify(resultOf({}, { content: 'HERE' }));
      const whole = await shown(result.replace('HERE', `You sent ${spelled}.`));
      expect(whole.said).toBe(isKey ? 'You sent [redacted].' : 'You sent sk-1.');
      const body = usual + text('HERE').replace('HERE', `You sent ${spelled}.`) + text('four') + stop + done;
      const streamed = await shown(body, { stream: true });
      expect(streamed.said).toBe(`one two three You sent ${isKey ? '[redacted]' : 'sk-1'}.four`);
      expect(streamed.answer).not.toContain(spelled.slice(0, 24));
    }
    const inJson = JSON.stringify(escaped(secret)).slice(1, -1);
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: 'HERE' } };
    const result = JSON.stringify(resultOf({}, { content: null, tool_calls: [call] }));
    const { answer } = await shown(result.replace('HERE', `{\\"a\\":\\"${inJson}\\"}`));
    expect(JSON.parse(JSON.parse(answer).choices[0].message.tool_calls[0].function.arguments)).toEqual({
      a: '[redacted]',
    });
  });

  it('leaves what looks like an escape as it is where it hides no secret', async () => {
    const content = 'In JSON, \\u0073 is an s, \\u00e9 an é, and é is é.';
    expect((await shown(JSON.stringify(resultOf({}, { content })))).said).toBe(content);
    const streamed = await shown(usual + text(content) + text(' five') + stop + done, { stream: true });
    expect(streamed.said).toBe(`one two three ${content} five`);
  });

  it('is found where the parts of a text are joined', async () => {
    const content = [apiKey.slice(0, 12), apiKey.slice(12)].map((part) => ({ type: 'text', text: part }));
    expect((await shown(JSON.stringify(resultOf({}, { content })))).said).toBe('[redacted]');
  });
});

describe('a secret in pieces, over the events of a stream', () => {
  const fields: [string, (piece: string) => string][] = [
    ['content', text],
    ['reasoning', (piece) => event(chunkOf({ reasoning_content: piece }))],
    [
      'the arguments of a tool',
      (piece) => event(chunkOf({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: piece } }] })),
    ],
  ];

  it.each(fields)('in two is taken out of %s, wherever it is cut', async (_, piece) => {
    for (const secret of [apiKey, btoa(apiKey)]) {
      for (let cut = 1; cut < secret.length; cut += runs(5, 1)) {
        const body = piece('a ') + piece('b ') + piece(`c ${secret.slice(0, cut)}`) + piece(`${secret.slice(cut)} d`);
        const { said, answer } = await shown(body + piece(' e') + stop + done, { stream: true });
        expectHidden(said, secret, answer);
        expect(said).toMatch(/^a b c .{0,7}\[redacted\].{0,3} d e$/);
      }
    }
  });

  it.each([1, 2, 3, 5, 8, 13])('of %i characters each is taken out, on either lane', async (size) => {
    for (const [, piece] of fields) {
      const pieces = apiKey.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const body = piece('a ') + piece('b ') + pieces.map(piece).join('') + piece(' c') + stop + done;
      const { said, answer } = await shown(body, { stream: true });
      expectHidden(said, apiKey, answer);
      expect(said).toMatch(/^a b .{0,7}\[redacted\] c$/);
      const folded = await shown(body);
      expect(folded.answer).not.toContain(apiKey);
    }
  });

  it('is taken out where one piece is escaped, and where a harmless beginning comes before it', async () => {
    const pieces = ['sk-proj-Ab', 'Zsk-sk-', 'proj-Abc1', 'ESCAPED', '456-GHI789', ' end'];
    const body = usual + pieces.map(text).join('').replace('ESCAPED', escaped('23_def')) + stop + done;
    const { said } = await shown(body, { stream: true });
    expect(said).toMatch(/^one two three sk-proj-AbZsk-.{0,7}\[redacted\] end$/);
  });

  it('leaves nothing out of a text that only looks like one', async () => {
    const pieces = ['a s', 'k', '-', 'proj-Ab', 'c123_def45', '6-GHI78', 'X s', 'sk-pro', 'sk', ' end sk-proj-Abc'];
    for (const [, piece] of fields) {
      const { said } = await shown(pieces.map(piece).join('') + stop + done, { stream: true });
      expect(said).toBe(pieces.join(''));
    }
  });

  it.each<[string, (piece: string) => object, (delta: Delta) => string | undefined]>([
    ['a transcript', (transcript) => ({ audio: { transcript } }), ({ audio }) => audio?.transcript],
    [
      'a reasoning text',
      (piece) => ({ reasoning_details: [{ type: 'reasoning.text', text: piece, index: 1 }] }),
      ({ reasoning_details: details }) => details?.[0]?.text,
    ],
    [
      'a reasoning summary',
      (summary) => ({ reasoning_details: [{ type: 'reasoning.summary', summary, index: 0 }] }),
      ({ reasoning_details: details }) => details?.[0]?.summary,
    ],
  ])('leaves nothing out of %s that only looks like one, and ends like one', async (_, deltaOf, textOf) => {
    const pieces = ['a s', 'k-proj-Abc', 'X sk-proj-Abc123', '_def'];
    const body = pieces.map((piece) => event(chunkOf(deltaOf(piece)))).join('');
    const { answer } = await shown(body + stop + done, { stream: true });
    const texts = deltasIn(answer).map(textOf);
    expect(texts.join('')).toBe(pieces.join(''));
  });

  it('is held back no longer than until the next event', async () => {
    const { answer } = await shown(usual + text('sk-proj-Abc') + text(' no') + stop + done, { stream: true });
    const texts = payloadsOf(answer).map((payload) => /"content":"([^"]*)"/.exec(payload)?.[1] ?? '');
    expect(texts.filter((one) => one !== '')).toEqual(['one ', 'two ', 'three ', 'sk-proj-Abc no']);
  });
});
