import { describe, expect, it } from 'vitest';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';

const decode = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  googleGenerateContent.decodeError(status, headers, typeof body === 'string' ? body : JSON.stringify(body), 0);
const rpc = (code: number, status: string, message: string, ...details: object[]) => ({
  error: { code, message, status, details },
});

describe('google-generate-content, an error', () => {
  it('is that of Google’s own shape, also in a list', () => {
    const body = rpc(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', {
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: '34.074824224s',
    });
    for (const one of [body, [body]])
      expect(decode(429, one, { 'retry-after': '1' })).toMatchObject({
        message: 'Quota exceeded.',
        status: 429,
        fault: 'transient',
        providerCode: 'RESOURCE_EXHAUSTED',
        errorType: 'rate_limit_exceeded',
        retryAfterMs: 34_075,
      });
  });

  it('asks for the pause of the header where the body has none', () => {
    expect(decode(503, rpc(503, 'UNAVAILABLE', 'Overloaded.'), { 'retry-after': '7' }).retryAfterMs).toBe(7_000);
    const nonsense = rpc(503, 'UNAVAILABLE', 'x', { retryDelay: 'soon' });
    expect(decode(503, nonsense).retryAfterMs).toBeUndefined();
  });

  it.each([
    ['INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', { reason: 'API_KEY_INVALID' }],
    ['FAILED_PRECONDITION', 'User location is not supported for the API use.', {}],
    ['INVALID_ARGUMENT', 'API key expired. Please renew the API key.', {}],
  ])(
    'of the key or the account is the operator’s, though its status says otherwise: %s %s',
    (status, message, detail) => {
      expect(decode(400, rpc(400, status, message, detail))).toMatchObject({ status: 400, fault: 'operator' });
    },
  );

  it('names what agents act on', () => {
    const long = 'The input token count (1200001) exceeds the maximum number of tokens allowed (1048576).';
    expect(decode(400, rpc(400, 'INVALID_ARGUMENT', long))).toMatchObject({
      errorType: 'context_length_exceeded',
      fault: 'caller',
    });
    const refused =
      'The prompt could not be submitted: it contains sensitive words that violate Responsible AI practices.';
    expect(decode(400, rpc(400, 'INVALID_ARGUMENT', refused))).toMatchObject({
      errorType: 'content_policy_violation',
      fault: 'caller',
    });
    expect(decode(400, rpc(400, 'INVALID_ARGUMENT', 'Unknown name "x"'))).toMatchObject({
      errorType: 'invalid_request',
      fault: 'caller',
    });
  });

  it.each([
    ['', 'The provider responded with status 500.'],
    ['<html>x</html>', 'The provider responded with status 500.'],
    ['Internal\u0000 error\n', 'Internal error'],
    ['{"error":"No."}', 'No.'],
    ['{"error":{"message":7,"details":[null,{"retryDelay":7}]}}', 'The provider responded with status 500.'],
    ['[null]', 'The provider responded with status 500.'],
    ['"Text"', 'Text'],
  ])('may be any text: %j', (body, message) => {
    expect(decode(500, body)).toMatchObject({ message, status: 500, fault: 'transient' });
  });

  it('inside a success has the status that it names', () => {
    const error = (body: unknown) => {
      try {
        googleGenerateContent.decodeResult(body, {});
      } catch (thrown) {
        return thrown;
      }
      return null;
    };
    expect(error(rpc(429, 'RESOURCE_EXHAUSTED', 'Wait.'))).toMatchObject({ reason: 'status', status: 429 });
    expect(error({ error: { message: 'Broken.' } })).toMatchObject({ reason: 'bad_response', message: 'Broken.' });
  });

  it('is bounded', () => {
    const { message, providerCode } = decode(500, rpc(500, 'S'.repeat(5_000), 'm'.repeat(100_000)));
    expect([message.length < 5_000, (providerCode ?? '').length <= 80]).toEqual([true, true]);
  });
});
