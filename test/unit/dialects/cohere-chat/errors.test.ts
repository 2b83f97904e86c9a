import { describe, expect, it } from 'vitest';
import { decodeError } from '../../../../src/dialects/cohere-chat/errors.ts';

const nowMs = Date.UTC(2026, 0, 1);
const read = (status: number, message: string) => decodeError(status, {}, JSON.stringify({ message, id: 'a' }), nowMs);

describe('an error of Cohere', () => {
  it('has its words, cleaned, and its pause', () => {
    const error = decodeError(429, { 'retry-after': '7' }, '{"message":"slow\\u0007 down\\n"}', nowMs);
    expect([error.message, error.retryAfterMs, error.fault]).toEqual(['slow down', 7000, 'transient']);
    expect(error.errorType).toBe('rate_limit_exceeded');
    expect(read(400, 'x'.repeat(100_000)).message.length).toBeLessThan(600);
    expect(decodeError(500, {}, '<html>', nowMs).message).toBe('The provider responded with status 500.');
  });
  it.each<[number, string, string, string]>([
    [
      400,
      'too many tokens: total number of tokens in the prompt cannot exceed 4081',
      'caller',
      'context_length_exceeded',
    ],
    [400, 'too many tokens: max tokens must be less than or equal to 4096', 'caller', 'invalid_request'],
    [400, 'invalid request: message must be at least 1 token long', 'caller', 'invalid_request'],
    [400, 'invalid request: blocked output: please revise', 'caller', 'content_policy_violation'],
    [403, 'your request violates our terms of use', 'caller', 'content_policy_violation'],
    [401, 'invalid api token', 'operator', 'provider_unavailable'],
    [402, 'Please add a payment method', 'operator', 'provider_unavailable'],
    [404, "model 'x' not found", 'caller', 'not_found'],
    [422, 'no valid response was generated', 'caller', 'unprocessable'],
    [498, 'invalid token', 'operator', 'provider_unavailable'],
    [499, 'request cancelled', 'transient', 'provider_unavailable'],
    [500, 'internal server error', 'transient', 'provider_unavailable'],
    [503, 'overloaded', 'transient', 'provider_overloaded'],
  ])('%i, "%s", is the fault of the %s: %s', (status, message, fault, errorType) => {
    expect(read(status, message)).toMatchObject({ status, message, fault, errorType });
  });
});
