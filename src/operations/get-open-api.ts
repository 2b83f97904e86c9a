import * as z from 'zod';
import type { Operation } from './operation.ts';

/**
 * The OpenAPI document of the interface, with the path of the request's mount. It is public, since it contains nothing
 * of a tenant.
 */
export function getOpenApi(): Operation {
  /** The latest document: writing it takes milliseconds, and anybody may request it. */
  let latest: { basePath: string; text: string } | null = null;
  return {
    name: 'getOpenApi',
    method: 'GET',
    path: '/openapi.json',
    permissions: [],
    isPublic: true,
    body: null,
    result: () => z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
    async run({ basePath }) {
      if (latest?.basePath !== basePath) {
        // Made by scripts/openapi-document.ts. It is large, and most processes never need it.
        const { default: document } = await import('../../docs/openapi.json', { with: { type: 'json' } });
        const servers = [{ url: basePath === '' ? '/' : basePath }];
        latest = { basePath, text: JSON.stringify({ ...document, servers }) };
      }
      return { kind: 'file', status: 200, body: latest.text, contentType: 'application/json' };
    },
  };
}
