import * as z from 'zod';
import type { Operation } from './operation.ts';

/** The interface as OpenAPI describes it, mounted where it was asked for. Anybody may read it: it says nothing of a tenant. */
export function getOpenApi(): Operation {
  /** The document as it was last asked for: writing it takes milliseconds, and anybody may ask. */
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
