import { describe, expect, it } from 'vitest';
import { createRouter } from '../../../src/http/router.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import { chatResultSchema } from '../../../src/schema/chat/chat.ts';

const operation = (method: Operation['method'], path: string): Operation => ({
  name: `${method} ${path}`,
  method,
  path,
  permissions: ['inference'],
  body: null,
  result: chatResultSchema,
  run: async () => ({ status: 200, kind: 'json', body: {} }),
});
const findIn = createRouter([
  operation('POST', '/things'),
  operation('GET', '/things/:id'),
  operation('PATCH', '/things/:id'),
  operation('PUT', '/things/:id/parts/:part'),
  operation('GET', '/fixed'),
]);

const find = (method: string, path: string, headers = {}) => findIn(method, path, { headers: new Headers(headers) });

describe('the router', () => {
  it('finds an operation and its parameters, decoded', () => {
    expect(find('PUT', '/things/a%20b/parts/%C3%BC')).toMatchObject({
      operation: { name: 'PUT /things/:id/parts/:part' },
      params: { id: 'a b', part: 'ü' },
      isHead: false,
    });
    expect(find('POST', '/things')).toMatchObject({ params: {} });
    expect(find('POST', '/things/')).toMatchObject({ params: {} });
  });
  it('runs HEAD as GET', () => {
    expect(find('HEAD', '/things/1')).toMatchObject({ operation: { method: 'GET' }, isHead: true });
  });
  it.each([
    ['DELETE', '/things/1', 'GET, PATCH, HEAD, OPTIONS'],
    ['GET', '/things', 'POST, OPTIONS'],
    ['HEAD', '/things', 'POST, OPTIONS'],
    ['x'.repeat(1000), '/fixed', 'GET, HEAD, OPTIONS'],
  ])('refuses %.10s %s, naming what is possible', (method, path, allow) => {
    try {
      find(method, path);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ status: 405, headers: { allow } });
      expect((error as Error).message.length).toBeLessThan(100);
    }
    expect(find('OPTIONS', path)).toEqual({ allow });
  });
  it.each(['/', '', '/nothing', '/things/1/parts', '/things/1/2', '/fixed/x', '/things/%', '/things/%ff', '/fixedx'])(
    'finds nothing at "%s"',
    (path) => {
      for (const method of ['GET', 'OPTIONS']) {
        const isBadEscape = path.includes('%');
        if (isBadEscape && method === 'OPTIONS') continue;
        expect(() => find(method, path)).toThrow(expect.objectContaining({ status: 404 }));
      }
    },
  );
  it.each(['websocket', 'WebSocket', 'h2c, websocket'])('tells a handshake to use HTTP: %s', (upgrade) => {
    const headers = { upgrade: 'HTTP/1.1', connection: 'upgrade' };
    expect(() => find('GET', '/things', { upgrade })).toThrow(expect.objectContaining({ status: 426, headers }));
  });
  it('takes no other request for a handshake', () => {
    const upgrade = 'websocket';
    for (const [method, path, given, status] of [
      ['GET', '/things', { upgrade: 'h2c' }, 405],
      ['GET', '/things', {}, 405],
      ['HEAD', '/things', { upgrade }, 405],
      ['DELETE', '/fixed', { upgrade }, 405],
      ['GET', '/nothing', { upgrade }, 404],
    ] as const)
      expect(() => find(method, path, given)).toThrow(expect.objectContaining({ status }));
    expect(find('GET', '/fixed', { upgrade })).toMatchObject({ operation: { name: 'GET /fixed' } });
  });
});
