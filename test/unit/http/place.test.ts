import { describe, expect, it } from 'vitest';
import { placeOf } from '../../../src/http/place.ts';

describe('the place of a request', () => {
  it.each([
    // mounted at /v1
    ['/v1', '/v1/messages', '/messages', false],
    ['/v1', '/v1/v1/messages', '/messages', false],
    ['/v1', '/v1/v1/chat/completions', '/chat/completions', false],
    ['/v1', '/v1beta/models/acme/fast:generateContent', '/models/acme/fast:generateContent', true],
    ['/v1', '/v1/v1beta/models', '/models', true],
    ['/v1', '/v1/models', '/models', false],
    ['/v1', '/v1', '/', false],
    // mounted elsewhere: the client is given the mount, or completes it
    ['/ai', '/ai/messages', '/messages', false],
    ['/ai', '/ai/v1/messages', '/messages', false],
    ['/ai', '/ai/v1/v1/messages', '/messages', false],
    ['/ai', '/ai/v1beta/models', '/models', true],
    ['/api/v1', '/api/v1beta/models', '/models', true],
    ['', '/v1/messages', '/messages', false],
    ['/', '/v1/messages', '/messages', false],
    ['/', '/messages', '/messages', false],
    // a name that only begins like a version
    ['/ai', '/ai/v1x/messages', '/v1x/messages', false],
    ['/ai', '/ai/v1/v1/v1/messages', '/v1/messages', false],
  ])('at %s, %s is %s', (basePath, path, expected, isBeta) => {
    expect(placeOf('POST', path, basePath)).toEqual({ path: expected, isBeta });
  });
  it.each([
    ['/v1', '/'],
    ['/v1', '/api/hello'],
    ['/v1', '/v1'],
    ['/v1', '/v1/api/hello'],
    ['/ai', '/ai'],
    ['/ai', '/ai/'],
    ['/ai', '/ai/api/hello'],
    ['', '/'],
    ['/api/v1', '/api'],
  ])('at %s, HEAD %s is the probe of a client', (basePath, path) => {
    expect(placeOf('HEAD', path, basePath).path).toBe('/api/hello');
  });
  it.each([
    ['/v1', '/v1betas/models'],
    ['/v1', '/v1beta'],
    ['/v1', '/messages'],
    ['/v1', '/other'],
    ['/ai', '/v1/messages'],
    ['/ai', '/v1beta/models'],
    ['/ai', '/api/hello'],
    ['/ai', '/'],
    ['/ai', '/aim/messages'],
  ])('at %s, %s is outside of the mount', (basePath, path) => {
    expect(() => placeOf('HEAD', path, basePath)).toThrow(`mounted at ${basePath}`);
  });
});
