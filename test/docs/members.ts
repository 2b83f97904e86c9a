import { join } from 'node:path';
import ts from 'typescript';
import { readDoc, root } from './markdown.ts';

/** Names of the members of an interface, in order: first those of the interfaces of the same file that it extends. */
export function membersOf(path: string, name: string): string[] {
  const found = interfaceOf(path, name);
  const bases = (found.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression));
  const inherited = bases.flatMap((base) => membersOf(path, (base as ts.Identifier).text));
  return [...new Set([...inherited, ...ownMembersOf(path, name)])];
}

/** Those that it does not get from the interfaces it extends. */
export function ownMembersOf(path: string, name: string): string[] {
  return interfaceOf(path, name).members.map((member) => (member.name as ts.Identifier).text);
}

function interfaceOf(path: string, name: string): ts.InterfaceDeclaration {
  const source = ts.createSourceFile(path, readDoc(path), ts.ScriptTarget.Latest);
  const found = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`${join(root, path)} has no interface ${name}`);
  return found;
}
