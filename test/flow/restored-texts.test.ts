import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextPattern } from '../../src/guardrails/text/pattern.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { streamResponses } from '../support/ask-responses.ts';
import { checkResponsesStream } from '../support/check-responses.ts';
import { joined, type TestGateway, testGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

const ann = 'ann@example.com';
const bob = 'bob@example.org';
const email: TextPattern = { builtin: 'email', action: 'redact', restore: true };
const one = '[REDACTED:email#1]';
const two = '[REDACTED:email#2]';
const metadata = { 'x-service-metadata': 'enabled' };
const ask = { model: 'acme/fast', messages: [{ role: 'user', content: `Write to ${ann} and ${bob}, not ${ann}` }] };

function opened(patterns: readonly TextPattern[] = [email], options: Partial<GatewayOptions> = {}): TestGateway {
  return testGateway({ guardrails: [textGuardrail({ id: 'pii', patterns })], ...options });
}

const says = (content: string) => {
  const whole = completion() as { choices: { message: { content: string } }[] };
  return { ...whole, choices: whole.choices.map((choice) => ({ ...choice, message: { role: 'assistant', content } })) };
};
const streamed = (pieces: readonly string[]) => [
  ...pieces.map((content) => sse(chunk({ content }))),
  sse(chunk({}, 'stop')),
  'data: [DONE]\n\n',
];

describe('a text that was taken out of the request', () => {
  it('is in the response again, and never at the provider', async () => {
    const test = opened();
    test.upstream.always({
      body: says(`To ${one}, ${two} and ${one}. Unknown: [REDACTED:email#3], [REDACTED:email].`),
    });
    const { status, json } = await test.post(ask, metadata);
    expect([status, json.choices?.[0]?.message?.content]).toEqual([
      200,
      `To ${ann}, ${bob} and ${ann}. Unknown: [REDACTED:email#3], [REDACTED:email].`,
    ]);
    const [sent] = test.upstream.sent;
    expect(sent?.body.messages).toEqual([{ role: 'user', content: `Write to ${one} and ${two}, not ${one}` }]);
    expect(json.service_metadata?.pipeline).toMatchObject([
      { data: { action: 'redact', patterns: ['email'], count: 3 } },
    ]);
  });
  it('has the same placeholder in the next turn, whose history holds it in clear', async () => {
    const test = opened();
    test.upstream.always({ body: says(`Dear ${two}`) });
    const { json } = await test.post(ask);
    const answer = json.choices?.[0]?.message?.content as string;
    expect(answer).toBe(`Dear ${bob}`);
    const next = [
      ...ask.messages,
      { role: 'assistant', content: answer },
      { role: 'user', content: 'And eve@example.net' },
    ];
    await test.post({ ...ask, messages: next });
    expect(test.upstream.sent[1]?.body.messages).toEqual([
      { role: 'user', content: `Write to ${one} and ${two}, not ${one}` },
      { role: 'assistant', content: `Dear ${two}` },
      { role: 'user', content: 'And [REDACTED:email#3]' },
    ]);
  });
  it('is in the arguments of a call, which stay JSON, and in a JSON answer', async () => {
    const odd = 'say "hi" \\ to:\tann';
    const test = opened([email, { literal: odd, name: 'odd', action: 'redact', restore: true }]);
    const args = JSON.stringify({ to: one, text: '[REDACTED:odd#1]', n: 1 });
    const calls = [{ index: 0, id: 'c', type: 'function', function: { name: 'send', arguments: '' } }];
    const pieces = args.match(/.{1,5}/g) ?? [];
    test.upstream.always({
      body: [
        sse(chunk({ tool_calls: calls })),
        ...pieces.map((piece) => sse(chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }))),
        sse(chunk({}, 'tool_calls')),
        'data: [DONE]\n\n',
      ],
    });
    const messages = [{ role: 'user', content: `${ann} ${odd}` }];
    const { text } = await test.post({ ...ask, messages, stream: true });
    const sent = [...text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map(([, json]) => JSON.parse(json as string));
    expect(JSON.parse(sent.join(''))).toEqual({ to: ann, text: odd, n: 1 });
    test.upstream.always({ body: says(JSON.stringify({ mail: two, note: '[REDACTED:odd#1]' })) });
    const asJson = await test.post({
      ...ask,
      messages: [{ role: 'user', content: `${ann} ${bob} ${odd}` }],
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(asJson.json.choices?.[0]?.message?.content as string)).toEqual({ mail: bob, note: odd });
  });
  it('is the same wherever a stream is cut', async () => {
    const words = fc.constantFrom(
      one,
      two,
      '[REDACTED:',
      '[REDACTED:email',
      '[REDACTED:email#9]',
      'Hi ',
      ']',
      '#1]',
      '[',
      '\u{1F600}',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (parts, sizes) => {
          const text = `${parts.join('')}.`;
          const pieces: string[] = [];
          for (let at = 0; at < text.length; ) {
            const size = sizes.next().value as number;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const test = opened();
          test.upstream.always({ body: streamed(pieces) });
          const response = await test.post({ ...ask, stream: true });
          const found = joined(response.chunks).content;
          // The reference knows nothing of pieces.
          expect(found).toBe(text.replaceAll(one, ann).replaceAll(two, bob));
        },
      ),
      { numRuns: runs(60, 600), seed: runs(1, Date.now() % 1e9) },
    );
  });
  it('reaches a client that speaks Responses', async () => {
    const test = opened();
    test.upstream.always({ body: streamed([`Dear ${one.slice(0, 7)}`, `${one.slice(7)}, hello`]) });
    const { text } = await streamResponses(test, { input: `Write to ${ann}` });
    const { final } = checkResponsesStream(text);
    expect(final.output).toMatchObject([{ type: 'message', content: [{ text: `Dear ${ann}, hello` }] }]);
  });
  it('is not in a thought, whose signature stays valid', async () => {
    const test = opened();
    const detail = { type: 'reasoning.text', text: `They asked for ${one}`, signature: 'sig', format: null, index: 0 };
    const whole = says(`Dear ${one}`) as { choices: { message: object }[] };
    for (const choice of whole.choices) Object.assign(choice.message, { reasoning_details: [detail] });
    test.upstream.always({ body: whole });
    const { json } = await test.post(ask);
    expect(json.choices?.[0]?.message).toMatchObject({
      content: `Dear ${ann}`,
      reasoning_details: [{ text: `They asked for ${one}`, signature: 'sig' }],
    });
  });
  it('is kept nowhere: not in the content beside the record, nor in a record, a log line or a store', async () => {
    const lines: unknown[] = [];
    const log = (...given: unknown[]) => void lines.push(given);
    const test = opened([email], { records: { enabled: true }, logger: { info: log, warn: log, error: log } });
    await test.call('PATCH', '/workspaces/default', {
      is_observability_io_logging_enabled: true,
      io_logging_sampling_rate: 1,
    });
    test.upstream.always({ body: says(`Dear ${one}`) });
    const { json } = await test.post(ask);
    expect(json.choices?.[0]?.message?.content).toBe(`Dear ${ann}`);
    await test.clock.advance(5_000);
    const id = test.records[0]?.id;
    const content = (await test.call('GET', `/generation/content?id=${id}`)).json;
    expect(content.data.output.completion).toBe(`Dear ${one}`);
    expect(JSON.stringify([content, test.records, lines])).not.toContain('ann@');
  });
  it('belongs to its own request: another one gets none of it', async () => {
    const test = opened();
    test.upstream.always({ body: says(`Dear ${one}`) });
    await test.post(ask);
    const other = await test.post({ ...ask, messages: [{ role: 'user', content: 'Hi' }] });
    expect(other.json.choices?.[0]?.message?.content).toBe(`Dear ${one}`);
  });
  it('stands beside what the model itself writes, which is redacted for good', async () => {
    const test = opened();
    test.upstream.always({ body: says(`Dear ${one}, also write to new@example.com`) });
    const { json } = await test.post(ask);
    expect(json.choices?.[0]?.message?.content).toBe(
      `Dear ${ann}, also write to [REDACTED:email#1]`.replace('#1]', ']'),
    );
  });
});

describe('the setting restore', () => {
  it.each<[string, object]>([
    ['another action', { builtin: 'email', action: 'block', restore: true }],
    ['the output alone', { builtin: 'email', action: 'redact', on: 'output', restore: true }],
    ['another type', { builtin: 'email', action: 'redact', restore: 'yes' }],
  ])('is refused for %s', (_, pattern) => {
    expect(() => textGuardrail({ id: 'g', patterns: [pattern as TextPattern] })).toThrow('restore');
  });
});
