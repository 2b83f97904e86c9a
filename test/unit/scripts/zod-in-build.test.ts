import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { zodInBuild } from '../../../scripts/zod-in-build.ts';
import { root } from '../../docs/markdown.ts';

/** Builds a module with the part of zod that the package is built with. */
async function built<Exports>(contents: string): Promise<{ text: string; exports: Exports }> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(root, 'src', 'schema'), sourcefile: 'entry.ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    plugins: [zodInBuild],
  });
  const text = outputFiles[0]?.text ?? '';
  return { text, exports: await import(`data:text/javascript,${encodeURIComponent(text)}`) };
}

interface WithZod extends Pick<typeof z, 'compile' | 'toJSONSchema'> {
  schema: z.ZodObject<{ a: z.ZodString }>;
}

describe('zod in the build', () => {
  const withZod = built<WithZod>(
    "import * as z from 'zod'; export { compile, toJSONSchema } from 'zod'; export const schema = z.object({ a: z.string().min(2) });",
  );

  it('checks as usual, by its own functions and by the standard', async () => {
    const { schema } = (await withZod).exports;
    expect(schema.safeParse({ a: 'ab' })).toEqual({ success: true, data: { a: 'ab' } });
    expect(schema.safeParse({ a: 'a' }).error?.issues).toMatchObject([{ code: 'too_small', path: ['a'] }]);
    expect(schema['~standard'].validate({ a: 'ab' })).toEqual({ value: { a: 'ab' } });
    expect(schema['~standard'].validate({ a: 1 })).toMatchObject({ issues: [{ path: ['a'] }] });
  });

  it('says what it leaves out', async () => {
    const { schema, compile, toJSONSchema } = (await withZod).exports;
    expect(() => toJSONSchema(schema)).toThrow('the build holds nothing that makes JSON schemas');
    expect(() => schema.toJSONSchema()).toThrow('the build holds nothing that makes JSON schemas');
    expect(() => compile(schema)).toThrow('src/schema/compile.ts loads the compiler');
  });

  it('is small without its compiler, which its own file loads', async () => {
    const plain = (await withZod).text;
    const { text, exports } = await built<Omit<WithZod, 'toJSONSchema'>>(
      "import * as z from 'zod'; export { compile } from './compile.ts'; export const schema = z.object({ a: z.string() });",
    );
    expect(text.length - plain.length).toBeGreaterThan(40_000);
    const compiled = exports.compile(exports.schema);
    expect(compiled.safeParse({ a: 'x' })).toEqual({ success: true, data: { a: 'x' } });
    expect(compiled.safeParse({ a: 1 }).success).toBe(false);
  });
});
