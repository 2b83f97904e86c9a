import { describe, expect, it } from 'vitest';
import { decodeError, errorIn } from '../../../../src/dialects/openai-chat/errors.ts';

const nowMs = Date.UTC(2026, 0, 1);
const messageOf = (body: string, status = 500) => decodeError(status, {}, body, nowMs).message;

describe("a provider's error", () => {
  it.each<[string, string, string]>([
    ['as OpenAI writes it', '{"error":{"message":"No","type":"t","code":"c"}}', 'No'],
    ['as a text', '{"error":"No"}', 'No'],
    ['at the top', '{"message":"No","code":5}', 'No'],
    ['as a detail', '{"detail":"No"}', 'No'],
    ['as a detail of its own', '{"detail":{"message":"No"}}', 'No'],
    [
      'as a detail that is a list',
      '{"detail":[{"loc":["body","messages",0,"content"],"msg":"Field required","input":{"a":"secret"}}]}',
      'body.messages.0.content: Field required',
    ],
    [
      'as several details',
      '{"detail":[{"loc":["body"],"msg":"No"},"Nor this",{"msg":"Nor that"},{"input":"secret"},null]}',
      'body: No; Nor this; Nor that',
    ],
    ['as a detail of the error', '{"error":{"detail":[{"msg":"No"}]}}', 'No'],
    [
      'as a list in the message',
      '{"object":"error","message":{"detail":[{"loc":["body","top_k"],"msg":"Extra inputs are not permitted"}]}}',
      'body.top_k: Extra inputs are not permitted',
    ],
    ['as a list of errors', '{"success":false,"errors":[{"code":7003,"message":"No route"}]}', 'No route'],
    ['as an empty detail', '{"detail":[]}', 'The provider responded with status 500.'],
    ['in a list', '[{"error":{"message":"No"}}]', 'No'],
    ['as plain text', 'No', 'No'],
    ['as a JSON text', '"No"', 'No'],
    ['as HTML', '<html><title>502 Bad Gateway</title>', 'The provider responded with status 500.'],
    ['as nothing', '', 'The provider responded with status 500.'],
    ['as an object without words', '{"ok":false}', 'The provider responded with status 500.'],
    ['as null', 'null', 'The provider responded with status 500.'],
    ['as numbers', '{"error":{"message":5}}', 'The provider responded with status 500.'],
    ['over several lines', '{"error":{"message":"No\\r\\nSet-Cookie: a"}}', 'No Set-Cookie: a'],
  ])('is read %s', (_, body, message) => {
    expect(messageOf(body)).toBe(message);
  });
  it('is bounded, whatever its size', () => {
    const issues = Array.from({ length: 10_000 }, (_, at) => ({ loc: ['body', at], msg: 'x'.repeat(100) }));
    expect(messageOf(JSON.stringify({ detail: issues })).length).toBeLessThanOrEqual(500);
    expect(
      messageOf(JSON.stringify({ error: { message: 'x'.repeat(100_000), code: 'y'.repeat(100_000) } })).length,
    ).toBeLessThanOrEqual(500);
    expect(
      decodeError(500, {}, JSON.stringify({ error: { code: 'y'.repeat(1000) } }), nowMs).providerCode?.length,
    ).toBeLessThanOrEqual(80);
  });
  it('carries how long to wait', () => {
    expect(decodeError(429, { 'retry-after': '7' }, '', nowMs).retryAfterMs).toBe(7000);
    expect(decodeError(429, { 'retry-after': new Date(nowMs + 9000).toUTCString() }, '', nowMs).retryAfterMs).toBe(
      9000,
    );
  });
  it.each<[string, number, string]>([
    ['{"error":{"message":"x","code":"context_length_exceeded"}}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"prompt is too long: 9 tokens"}}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"This model\'s maximum prompt length is 9 but it has 10"}}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"The input token count (9) exceeds the maximum"}}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"Prompt exceeds max length"}}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"Your request exceeded model token limit: 9"}}', 400, 'context_length_exceeded'],
    ['{"message":"Input is too long for requested model."}', 400, 'context_length_exceeded'],
    ['{"error":{"message":"max_tokens: at most 9"}}', 400, 'invalid_request'],
    ['{"error":{"message":"x","code":"content_policy_violation"}}', 400, 'content_policy_violation'],
    ['{"error":{"message":"x","code":"string_above_max_length"}}', 400, 'string_too_long'],
    ['{"error":{"message":"maximum context length"}}', 500, 'provider_unavailable'],
    ['{"error":{"message":"x"}}', 429, 'rate_limit_exceeded'],
    ['{"error":{"message":"x"}}', 404, 'not_found'],
    ['{"detail":[{"msg":"This model\'s maximum context length is 9 tokens"}]}', 422, 'context_length_exceeded'],
  ])('%s with status %i is a %s', (body, status, errorType) => {
    expect(decodeError(status, {}, body, nowMs).errorType).toBe(errorType);
  });
});

describe('an error inside a success', () => {
  it.each<[Record<string, unknown>, number]>([
    [{ error: { message: 'No', code: 429 } }, 429],
    [{ error: { message: 'No', code: '503' } }, 503],
    [{ error: { message: 'No', status: 400, code: 'bad' } }, 400],
    [{ error: { message: 'No', status_code: 529 } }, 529],
    [{ error: 'No', status: 408 }, 408],
    [{ object: 'error', message: 'No', code: 404 }, 404],
  ])('is that of the status it names: %j', (body, status) => {
    expect(errorIn(body)).toMatchObject({ reason: 'status', status, message: 'No' });
  });
  it.each([200, 399, 600, 1302, 429.5, '4290', '0x1ad', 'rate_limited', null, [429]])(
    'is a bad response where it names %j, which is no error status',
    (code) => {
      expect(errorIn({ error: { message: 'No', code } })).toMatchObject({ reason: 'bad_response', status: 502 });
    },
  );
  it.each([{ error: { message: 'No' } }, { error: 'No' }, { error: { code: 5 } }])('is found in %j', (body) => {
    expect(errorIn(body)).toMatchObject({ reason: 'bad_response', status: 502, fault: 'transient' });
  });
  it.each([{}, { error: null }, { error: {} }, { error: '' }, { error: false }])('is not found in %j', (body) => {
    expect(errorIn(body)).toBe(null);
  });
});
