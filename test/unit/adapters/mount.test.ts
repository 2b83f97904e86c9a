import { describe, expect, it } from 'vitest';
import { findMount, locate } from '../../../adapters/hosts/shared/mount.ts';

describe('findMount', () => {
  it.each([
    ['/v1/chat', '/v1/chat', ''],
    ['/api/v1/chat?x=1', '/chat', '/api/v1'],
    ['/v1', '/', '/v1'],
    ['/v1/', '/', '/v1'],
    ['/v1?x=/a', '/', '/v1'],
    ['/', '/', ''],
    ['http://proxy.example/v1/chat', '/chat', '/v1'],
    ['/old/chat', '/new/chat', ''],
  ])('of %s, left with %s, is "%s"', (originalUrl, path, mountedAt) => {
    expect(findMount(originalUrl, path)).toBe(mountedAt);
  });
});

describe('locate', () => {
  const at = (mountedAt: string, url: string, prefix?: string) =>
    locate({}, { mountedAt, url, originalUrl: `http://proxy.example${mountedAt}/original` }, prefix);

  it('takes everything below a mount, and the base path of the gateway at the root', () => {
    expect(at('/api', '/x?q=1')).toEqual({ basePath: '/api', url: '/api/x?q=1' });
    expect(at('', '/v1/x')).toEqual({ basePath: '/v1', url: '/v1/x' });
    expect(at('', '/x')).toBe(undefined);
    expect(locate({ basePath: '/llm' }, { mountedAt: '', url: '/llm/x', originalUrl: '/llm/x' }, undefined)).toEqual({
      basePath: '/llm',
      url: '/llm/x',
    });
  });

  it('takes the prefix only as whole segments', () => {
    expect(at('/api', '/llm', '/llm')).toEqual({ basePath: '/api/llm', url: '/api/llm' });
    expect(at('/api', '/llm/x', '/llm/')).toEqual({ basePath: '/api/llm', url: '/api/llm/x' });
    expect(at('/api', '/llmx', '/llm')).toBe(undefined);
    expect(at('', '/anything', '')).toEqual({ basePath: '', url: '/anything' });
  });

  it('keeps the whole URL of a request to a proxy', () => {
    expect(at('/v1', 'http://proxy.example/x')).toEqual({
      basePath: '/v1',
      url: 'http://proxy.example/v1/original',
    });
  });
});
