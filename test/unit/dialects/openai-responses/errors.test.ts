import { describe, expect, it } from 'vitest';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const decode = (event: object): StreamPart[] => openaiResponses.streamDecoder({}).decode(JSON.stringify(event), '');
const errorIn = (event: object) => {
  const part = decode(event).at(-1);
  return part?.kind === 'error' ? part : null;
};

describe('an error inside a stream', () => {
  it.each<[string, object, object]>([
    [
      'of a response that failed',
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'Oh.' } } },
      { message: 'Oh.', status: 502, fault: 'transient', providerCode: 'server_error' },
    ],
    [
      'as an event of its own',
      { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null, sequence_number: 2 },
      { message: 'Slow down.', status: 429, fault: 'transient', errorType: 'rate_limit_exceeded' },
    ],
    [
      'inside an event',
      {
        type: 'error',
        error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.' },
      },
      { message: 'Too long.', status: 400, fault: 'caller', errorType: 'context_length_exceeded' },
    ],
    [
      'that refuses what the request is about',
      { type: 'error', code: 'invalid_prompt', message: 'Flagged.' },
      { status: 400, fault: 'caller', errorType: 'content_policy_violation', providerCode: 'invalid_prompt' },
    ],
    [
      'that is about an image',
      { type: 'response.failed', response: { error: { code: 'image_too_large', message: 'Too large.' } } },
      { status: 400, fault: 'caller', providerCode: 'image_too_large' },
    ],
    ['with a status of its own', { type: 'error', error: { status: 503, message: 'Busy.' } }, { status: 503 }],
    ['without an event around it', { error: { message: 'No.' } }, { message: 'No.', status: 502 }],
    ['that says nothing', { type: 'response.failed' }, { message: 'The provider reported an error.', status: 502 }],
    ['of the wrong shape', { type: 'error', error: [5], message: { a: 1 } }, { status: 502 }],
    ['at the end', { type: 'response.completed', response: { error: { message: 'No.' } } }, { message: 'No.' }],
    ['when it was cancelled', { type: 'response.cancelled', response: { status: 'cancelled' } }, { status: 502 }],
  ])('is told: %s', (_, event, error) => {
    expect(errorIn(event)).toMatchObject({ isReported: true, error });
  });
  it('comes behind the usage that the provider will bill', () => {
    expect(decode({ type: 'response.failed', response: { error: { message: 'No.' }, usage } })).toMatchObject([
      { kind: 'usage', usage: { total_tokens: 5 } },
      { kind: 'error' },
    ]);
  });
  it('is bounded and on one line', () => {
    const message = `a\r\n\u001b[31m${'b'.repeat(100_000)}`;
    const { error } = errorIn({ type: 'error', code: 'c'.repeat(1000), message }) ?? {};
    expect(error?.message).toMatch(/^a b+…$/);
    expect([error?.message.length, error?.providerCode?.length]).toEqual([500, 80]);
  });
});

describe('an error response', () => {
  it('is read as in chat completions, with how long to wait', () => {
    const body = JSON.stringify({ error: { message: 'No.', type: 'requests', code: 'rate_limit_exceeded' } });
    expect(openaiResponses.decodeError(429, { 'retry-after': '3' }, body, 0)).toMatchObject({
      status: 429,
      retryAfterMs: 3000,
      providerCode: 'rate_limit_exceeded',
    });
  });
  it("says what Azure's filter refuses", () => {
    const error = { message: 'The response was filtered', code: 'content_filter', status: 400, innererror: {} };
    expect(openaiResponses.decodeError(400, {}, JSON.stringify({ error }), 0)).toMatchObject({
      fault: 'caller',
      errorType: 'content_policy_violation',
    });
  });
});
