import { describe, expect, it } from 'vitest';
import { bedrockConverse } from '../../../src/dialects/bedrock-converse/index.ts';
import { amazonBedrock } from '../../../src/providers/amazon-bedrock.ts';
import type { Credential } from '../../../src/providers/provider.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { authorizationOf, signedHeaders } from '../../support/sigv4.ts';

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const parts = {
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE012345678',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

function requestTo(model: string, body = '{"messages":[{"text":"Grüße"}]}') {
  const { path, headers } = bedrockConverse.encodeRequest({
    request: { messages: [{ role: 'user', content: 'Hi' }], stream: true },
    upstreamModel: model,
    quirks: {},
  });
  const baseUrl = amazonBedrock.baseUrl as (credential: Credential) => string;
  return { method: 'POST' as const, url: baseUrl({ secret: '', parts }) + path, headers, body };
}

describe('a signature that the tests compute', () => {
  // The case "get-vanilla" of the test suite that AWS publishes for version 4 of its signatures.
  it('is the one that AWS publishes', () => {
    const authorization = authorizationOf(
      {
        method: 'GET',
        url: 'https://example.amazonaws.com/',
        headers: { 'x-amz-date': '20150830T123600Z' },
        body: '',
      },
      {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
        service: 'service',
      },
      ['host', 'x-amz-date'],
    );
    expect(authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });
});

describe('Amazon Bedrock', () => {
  it.each([
    'amazon.nova-pro-v1:0',
    'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3',
    'us.anthropic.claude-sonnet-4-6',
  ])('gets requests for %s that are signed as AWS describes', async (model) => {
    for (const sessionToken of [undefined, 'IQoJb3JpZ2luX2VjEXAMPLE//token==']) {
      const request = requestTo(model);
      const credential = { secret: '', parts: { ...parts, ...(sessionToken === undefined ? {} : { sessionToken }) } };
      const signed = await amazonBedrock.auth(request, credential, manualClock(nowMs));
      const authorization = signed.headers.authorization as string;
      const names = signedHeaders(authorization);
      expect(names).toEqual(expect.arrayContaining(['host', 'x-amz-date']));
      expect(signed.headers['x-amz-date']).toBe('20260102T030405Z');
      expect(signed.headers['x-amz-security-token']).toBe(sessionToken);
      if (sessionToken !== undefined) expect(names).toContain('x-amz-security-token');
      expect(authorization).toBe(authorizationOf(signed, { ...parts, service: 'bedrock' }, names));
      expect([signed.url, signed.body, signed.method]).toEqual([request.url, request.body, 'POST']);
      expect(signed.headers).toMatchObject(request.headers);
      expect(request.headers).not.toHaveProperty('authorization');
    }
  });

  it('gets another signature for another body, second and day', async () => {
    const credential = { secret: '', parts };
    const sign = async (body: string, atMs: number) =>
      (await amazonBedrock.auth(requestTo('m', body), credential, manualClock(atMs))).headers.authorization;
    const day = 86_400_000;
    const signatures = [sign('a', nowMs), sign('b', nowMs), sign('a', nowMs + 1000)];
    for (let days = 1; days < 8; days++) signatures.push(sign('a', nowMs + days * day));
    expect(new Set(await Promise.all(signatures)).size).toBe(signatures.length);
    expect(await sign('a', nowMs)).toBe(await signatures[0]);
  });

  it('gets a key of its own API in a header, and no signature', async () => {
    const signed = await amazonBedrock.auth(requestTo('m'), { secret: 'bedrock-api-key', parts }, manualClock(nowMs));
    expect(signed.headers.authorization).toBe('Bearer bedrock-api-key');
    expect(signed.headers).not.toHaveProperty('x-amz-date');
  });

  it('is at the address of the region', () => {
    expect(requestTo('a:b/c').url).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/a%3Ab%2Fc/converse-stream',
    );
  });
});
