import { expect, it } from 'vitest';
import { declaredNames, examplesOf, typeErrors, writeExample } from './example-files.ts';
import { projectFiles } from './markdown.ts';

/** Shows parts of programs that use a client library; `npm run test:matrix` runs those clients. */
const ofFragments = 'docs/clients.md';
const docs = projectFiles().filter(
  (path) => /^(?:README|docs\/(?:tasks\/)?[\w-]+)\.md$/.test(path) && path !== ofFragments,
);

/** What the examples for Bun find there. */
const bunTypes = `import type { BunServer } from '../../adapters/hosts/bun.ts';
declare const Bun: { serve(options: { port: number; fetch: (request: Request, server: BunServer) => Promise<Response | undefined> }): unknown };
`;

/** Writes all examples of a document; what one does not declare comes from the first one above it that does. */
function writeAll(doc: string): string[] {
  const from: Record<string, string> = {};
  return examplesOf(doc).map((code, at) => {
    const name = `types-${doc.replace(/\W/g, '-')}-${at}`;
    const path = writeExample(name, code, { from: { ...from }, preface: /\bBun\./.test(code) ? bunTypes : '' });
    for (const declared of declaredNames(code)) from[declared] ??= name;
    return path;
  });
}

// One program for all of them: most of its time goes into the sources that each of them imports.
it('every example of README.md and docs compiles with the settings of the project', { timeout: 120_000 }, () => {
  const written = docs.flatMap(writeAll);
  expect(written.length).toBeGreaterThan(20);
  const mistaken = writeExample(
    'types-mistaken',
    "import { createGateway } from 'model-gateway';\ncreateGateway({ apiKey: 1 });",
  );
  const errors = typeErrors([...written, mistaken]);
  expect(errors).toEqual([expect.stringMatching(/mistaken\.ts: .*'apiKey' does not exist/)]);
});
