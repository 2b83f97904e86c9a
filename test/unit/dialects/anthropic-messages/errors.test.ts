import { describe, expect, it } from 'vitest';
import { decodeError } from '../../../../src/dialects/anthropic-messages/errors.ts';

const nowMs = Date.UTC(2026, 0, 1);
const errorOf = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message } });

describe("a provider's error", () => {
  it.each<[string, string, string, string | undefined]>([
    ['as Anthropic writes it', errorOf('api_error', 'No'), 'No', 'api_error'],
    [
      'as Google writes it',
      '[{"error":{"code":429,"message":"No quota","status":"RESOURCE_EXHAUSTED"}}]',
      'No quota',
      'RESOURCE_EXHAUSTED',
    ],
    ['as a message alone', '{"message":"No"}', 'No', undefined],
    ['as plain text', 'No', 'No', undefined],
    ['as HTML', '<html><title>502</title>', 'The provider responded with status 500.', undefined],
    ['as nothing', '', 'The provider responded with status 500.', undefined],
    ['as null', 'null', 'The provider responded with status 500.', undefined],
    ['as numbers', '{"error":{"type":5,"message":6}}', 'The provider responded with status 500.', undefined],
    ['over several lines', errorOf('api_error', 'No\r\nSet-Cookie: a'), 'No Set-Cookie: a', 'api_error'],
  ])('is read %s', (_, body, message, code) => {
    expect(decodeError(500, {}, body, nowMs)).toMatchObject({ message, providerCode: code, status: 500 });
  });

  it.each<[number, string, string, string, string]>([
    [400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', 'caller', 'context_length_exceeded'],
    [
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 9 + 8 > 10',
      'caller',
      'context_length_exceeded',
    ],
    [400, 'invalid_request_error', 'Output blocked by content filtering policy', 'caller', 'content_policy_violation'],
    [400, 'invalid_request_error', 'max_tokens: Field required', 'caller', 'invalid_request'],
    [401, 'authentication_error', 'invalid x-api-key', 'operator', 'provider_unavailable'],
    [402, 'billing_error', 'No', 'operator', 'provider_unavailable'],
    [403, 'permission_error', 'No', 'operator', 'provider_unavailable'],
    [404, 'not_found_error', 'model: claude-x', 'caller', 'not_found'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'caller', 'payload_too_large'],
    [429, 'rate_limit_error', 'No', 'transient', 'rate_limit_exceeded'],
    [500, 'api_error', 'No', 'transient', 'provider_unavailable'],
    [529, 'overloaded_error', 'Overloaded', 'transient', 'provider_overloaded'],
  ])('of status %i and type %s: %s', (status, type, message, fault, errorType) => {
    expect(decodeError(status, {}, errorOf(type, message), nowMs)).toMatchObject({ fault, errorType, status });
  });

  it('carries how long to wait, and is bounded', () => {
    expect(decodeError(429, { 'retry-after': '7' }, '', nowMs).retryAfterMs).toBe(7000);
    const long = decodeError(500, {}, errorOf('x'.repeat(100_000), 'y'.repeat(100_000)), nowMs);
    expect([long.message.length, long.providerCode?.length].map((length) => (length ?? 0) <= 500)).toEqual([
      true,
      true,
    ]);
  });
});
