import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../../docs/markdown.ts';

/** Files and folders that an import of the package does not load; see docs/performance.md, "The start of a process". */
const late = [
  'src/catalog/snapshot.ts',
  'src/dialects/ai-sdk/request.ts',
  'src/dialects/anthropic-messages/request.ts',
  'src/dialects/bedrock-converse/request.ts',
  'src/dialects/cohere-chat/request.ts',
  'src/dialects/google-generate-content/request',
  'src/dialects/openai-responses/request.ts',
  'src/formats/responses',
  'src/guardrails/builtin/national-ids.ts',
  'src/guardrails/matching',
  'src/guardrails/text/screening.ts',
  'src/guardrails/text/patterns.ts',
  'src/http/socket/sockets.ts',
  'src/operations/index.ts',
  'src/providers/sandbox/whole.ts',
  'src/providers/sandbox/models.ts',
  'src/providers/sandbox/transport.ts',
  'src/schema/compile.ts',
];

/** The files that a module imports, but for types and for what it loads later. */
function imported(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement);
    if (!isImport && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier: from } = statement;
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.') || isOfTypes(statement))
      return [];
    return [join(dirname(path), from.text)];
  });
}

function isOfTypes(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isImportDeclaration(statement)) {
    const { importClause: clause } = statement;
    if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
    const names = clause?.namedBindings;
    return names !== undefined && ts.isNamedImports(names) && names.elements.every(({ isTypeOnly }) => isTypeOnly);
  }
  const names = statement.exportClause;
  return (
    statement.isTypeOnly ||
    (names !== undefined && ts.isNamedExports(names) && names.elements.every(({ isTypeOnly }) => isTypeOnly))
  );
}

describe('an import of the package', () => {
  const read = new Set<string>();
  const walk = (path: string) => {
    if (read.has(path)) return;
    read.add(path);
    imported(path).forEach(walk);
  };
  walk(join(root, 'src', 'index.ts'));
  const files = [...read].map((path) => relative(root, path));

  it.each(late)('does not read %s', (path) => {
    expect(existsSync(join(root, path))).toBe(true);
    expect(files.filter((file) => file === path || file.startsWith(`${path}/`))).toEqual([]);
  });

  it('reads all that every request needs', () => {
    for (const path of ['src/gateway.ts', 'src/operations/chat/create.ts', 'src/dialects/openai-chat/request.ts'])
      expect(files).toContain(path);
  });
});
