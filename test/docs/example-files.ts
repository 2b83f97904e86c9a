import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { entries } from '../../tsup.config.ts';
import { codeBlocks, readDoc, root } from './markdown.ts';

const folder = join(root, '.cache', 'docs');

/** What `model-gateway/…` stands for: the sources of what package.json exports under that name. */
function sourceOf(specifier: string): string {
  const { exports }: { exports: Record<string, unknown> } = JSON.parse(readDoc('package.json'));
  const name = specifier.replace(/^model-gateway/, '.');
  if (!Object.hasOwn(exports, name)) throw new Error(`package.json exports no ${name}`);
  const source = entries[name === '.' ? 'index' : name.slice(2)];
  if (source === undefined) throw new Error(`tsup.config.ts builds no ${name}`);
  return `../../${source}`;
}

/**
 * Writes an example to a file: the package's name becomes its sources, every declared name an export, and what the
 * example takes from the docs above it an import.
 * @param from     files of earlier examples by the name that is taken from them
 * @param replace  addresses that a test must not use by those it uses instead
 * @returns  its path
 */
export function writeExample(
  name: string,
  code: string,
  {
    from = {},
    replace = {},
    preface = '',
  }: { from?: Record<string, string>; replace?: Record<string, string>; preface?: string } = {},
): string {
  let text = code.replace(/'(model-gateway[^']*)'/g, (_, specifier: string) => `'${sourceOf(specifier)}'`);
  for (const [old, now] of Object.entries(replace)) text = text.replaceAll(old, now);
  const [declared, used] = [declaredNames(code), usedNames(code)];
  const imports = Object.entries(from)
    .filter(([taken]) => used.has(taken) && !declared.includes(taken))
    .map(([taken, file]) => `import { ${taken} } from './${file}.ts';\n`);
  const path = join(folder, `${name}.ts`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${preface}${imports.join('')}${text}\nexport { ${declared.join(', ')} };\n`);
  return path;
}

export function examplesOf(doc: string): string[] {
  return codeBlocks(readDoc(doc), 'ts');
}

/** Constants at the top of a file that it does not export itself. */
export function declaredNames(code: string): string[] {
  const source = ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.isVariableStatement(statement) || statement.modifiers) return [];
    const names = statement.declarationList.declarations.map(({ name }) => name);
    return names.flatMap((name) =>
      ts.isIdentifier(name)
        ? [name.text]
        : name.elements.flatMap((one) =>
            ts.isBindingElement(one) && ts.isIdentifier(one.name) ? [one.name.text] : [],
          ),
    );
  });
}

/** Names that an example refers to; a member of an object or an imported name is none. */
function usedNames(code: string): Set<string> {
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node)) used.add(node.text);
    ts.forEachChild(node, (child) => {
      const isMember =
        (ts.isPropertyAccessExpression(node) || ts.isPropertyAssignment(node) || ts.isMethodDeclaration(node)) &&
        child === node.name;
      if (!isMember) visit(child);
    });
  };
  visit(ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest));
  return used;
}

/** What the compiler says of the examples, under the project's own settings. */
export function typeErrors(paths: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([...paths], options);
  return paths.flatMap((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  });
}
