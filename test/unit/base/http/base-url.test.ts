import { describe, expect, it } from 'vitest';
import { joinUrl, secretsInUrl } from '../../../../src/base/http/base-url.ts';

describe('a base address and a path', () => {
  it.each([
    ['https://x.example/v1', 'https://x.example/v1/chat/completions'],
    ['https://x.example/v1//', 'https://x.example/v1/chat/completions'],
    ['https://x.example', 'https://x.example/chat/completions'],
    ['https://x.example/v1?api-version=2', 'https://x.example/v1/chat/completions?api-version=2'],
    ['https://x.example/v1/?api-version=2', 'https://x.example/v1/chat/completions?api-version=2'],
    ['https://x.example?a=1&b=%2F', 'https://x.example/chat/completions?a=1&b=%2F'],
    ['https://x.example/v1?next=/a/', 'https://x.example/v1/chat/completions?next=/a/'],
    ['https://x.example/v1?', 'https://x.example/v1/chat/completions'],
    ['https://x.example/v1#part?x=1', 'https://x.example/v1/chat/completions'],
    ['https://x.example/v1?a=1#part', 'https://x.example/v1/chat/completions?a=1'],
  ])('%s is joined before its query', (baseUrl, url) => {
    expect(joinUrl(baseUrl, '/chat/completions')).toBe(url);
  });
  it('keep both queries where the path has one', () => {
    expect(joinUrl('https://x.example/v1?a=1', '/stream?alt=sse')).toBe('https://x.example/v1/stream?alt=sse&a=1');
  });
});

describe('the query of a base address', () => {
  it('holds secrets where the name of a parameter says so, as written and decoded', () => {
    expect(secretsInUrl('https://x.example/v1?api-version=2024-10-21&key=a%2Bb&model=m&sig=c+d&code=')).toEqual([
      'a%2Bb',
      'a+b',
      'c+d',
      'c d',
    ]);
    expect(secretsInUrl('https://x.example/v1?subscription-key=k1&access_token=t1#key=k2')).toEqual(['k1', 't1']);
    expect(secretsInUrl('https://x.example/key=1')).toEqual([]);
  });
});
