// Which names that the package exports, and which members of its types, have no comment.
import ts from 'typescript';
import { publicEntries } from '../tsup.config.ts';
import { docOf } from './print-types.ts';

/**
 * @param entries  files whose exports are public, by the end of their names
 * @returns        such as `RequestRecord.attempts` or `GatewayOptions.providers.apiKey`, each once
 */
export function undocumentedMembers(program: ts.Program, entries: readonly string[]): string[] {
  const checker = program.getTypeChecker();
  const missing = new Set<string>();
  const seen = new Set<ts.Type>();
  for (const entry of entries) {
    const file = program.getSourceFiles().find(({ fileName }) => fileName.endsWith(`/${entry}`));
    const module = file && checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${entry} is no module of the program`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (docOf(symbol).text === '') missing.add(symbol.name);
      if (symbol.flags & ts.SymbolFlags.Type) visit(checker.getDeclaredTypeOfSymbol(symbol), symbol.name);
      if (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) callable(symbol);
    }
  }
  return [...missing];

  function callable(symbol: ts.Symbol): void {
    for (const signature of checker.getTypeOfSymbol(symbol).getCallSignatures()) follow(signature, symbol.name);
  }

  function follow(signature: ts.Signature, name: string): void {
    for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter), name);
    visit(signature.getReturnType(), name);
  }

  function visit(type: ts.Type, name: string): void {
    if (seen.has(type)) return;
    seen.add(type);
    if (type.isUnionOrIntersection()) {
      for (const one of type.types) visit(one, name);
      return;
    }
    if (!(type.flags & ts.TypeFlags.Object)) return;
    for (const argument of type.aliasTypeArguments ?? checker.getTypeArguments(type as ts.TypeReference) ?? [])
      visit(argument, name);
    const declared = type.getSymbol()?.declarations?.[0];
    if (declared && !isOurs(declared) && !isZod(declared)) return;
    const isNamed = declared && (ts.isInterfaceDeclaration(declared) || ts.isClassDeclaration(declared));
    const own = isNamed ? (declared.name?.text ?? name) : name;
    for (const signature of type.getCallSignatures()) follow(signature, own);
    const index = type.getStringIndexType();
    if (index) visit(index, own);
    for (const member of type.getProperties()) {
      const at = member.declarations?.[0];
      // What an error has from the language.
      if (!at || !isOurs(at)) continue;
      const path = `${own}.${member.name}`;
      if (!member.name.startsWith('__@') && !isOnOneLine(at.parent) && docOf(member).text === '') missing.add(path);
      visit(checker.getTypeOfSymbol(member), path);
    }
  }
}

/** An object that is written on one line: what is around it tells of its members. */
function isOnOneLine(node: ts.Node): boolean {
  const isObject = ts.isTypeLiteralNode(node) || ts.isObjectLiteralExpression(node);
  return isObject && !node.getText().includes('\n');
}

function isOurs(node: ts.Node): boolean {
  return !node.getSourceFile().fileName.includes('/node_modules/');
}

function isZod(node: ts.Node): boolean {
  return node.getSourceFile().fileName.includes('/node_modules/zod/');
}

if (import.meta.main) {
  const { sourceProgram } = await import('./source-program.ts');
  process.stdout.write(`${undocumentedMembers(sourceProgram(), Object.values(publicEntries)).join('\n')}\n`);
}
