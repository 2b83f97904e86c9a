import { describe, expect, it } from 'vitest';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';

const named = (name: string) => ({
  'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
});
const read = (status: number, headers: Record<string, string>, body: string) =>
  bedrockConverse.decodeError(status, headers, body, 0);

describe('an error of Converse', () => {
  it.each<[number, string, string, object]>([
    [429, 'ThrottlingException', 'Too many tokens, please wait.', { status: 429, errorType: 'rate_limit_exceeded' }],
    [400, 'ServiceQuotaExceededException', 'Quota', { status: 429, fault: 'transient' }],
    [424, 'ModelErrorException', 'The model failed', { status: 424, fault: 'transient' }],
    [408, 'ModelTimeoutException', 'Late', { errorType: 'timeout', fault: 'transient' }],
    [403, 'AccessDeniedException', 'No access', { fault: 'operator' }],
    [403, 'UnrecognizedClientException', 'The security token is invalid', { status: 401, fault: 'operator' }],
    [400, 'ExpiredTokenException', 'Expired', { status: 401, fault: 'operator' }],
    [404, 'ResourceNotFoundException', 'No such model', { errorType: 'not_found', fault: 'caller' }],
    [503, 'ServiceUnavailableException', 'Later', { errorType: 'provider_overloaded' }],
    [400, 'ValidationException', 'Input is too long for requested model.', { errorType: 'context_length_exceeded' }],
    [400, 'ValidationException', 'prompt is too long: 9 tokens > 8 maximum', { errorType: 'context_length_exceeded' }],
    [400, 'ValidationException', 'The input token count exceeds the maximum', { errorType: 'context_length_exceeded' }],
    [
      400,
      'ValidationException',
      'Output blocked by content filtering policy',
      { errorType: 'content_policy_violation', fault: 'caller' },
    ],
    [400, 'ValidationException', 'temperature: range 0..1', { errorType: 'invalid_request', fault: 'caller' }],
  ])('%i %s: %s', (status, name, message, expected) => {
    const error = read(status, named(name), JSON.stringify({ message }));
    expect(error).toMatchObject({ reason: 'status', providerCode: name, message, ...expected });
  });

  it('has its name in the body too, and its message in either spelling', () => {
    expect(read(400, {}, '{"__type":"com.amazon.coral.validate#ValidationException","Message":"No"}')).toMatchObject({
      providerCode: 'ValidationException',
      message: 'No',
    });
  });

  it('says how long to wait', () => {
    expect(read(429, { 'retry-after': '3' }, '{}').retryAfterMs).toBe(3000);
  });

  it.each([
    ['', 'The provider responded with status 500.'],
    ['<html>Sorry</html>', 'The provider responded with status 500.'],
    ['{"message":{}}', 'The provider responded with status 500.'],
    ['[1]', '[1]'],
    ['upstream\u001b[31m broke\n', 'upstream broke'],
    ['['.repeat(100), expect.stringContaining('[[')],
  ])('of any text is bounded and clean: %j', (body, message) => {
    expect(read(500, {}, body).message).toEqual(message);
  });

  it('is short, however long the text is', () => {
    const error = read(
      500,
      { 'x-amzn-errortype': 'x'.repeat(100_000) },
      JSON.stringify({ message: 'y'.repeat(100_000) }),
    );
    expect([error.message.length <= 500, (error.providerCode?.length ?? 0) <= 80]).toEqual([true, true]);
  });
});
