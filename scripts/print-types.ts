// The types that the schemas of the options and of the wire infer, written out: the package's declarations then need no
// zod, and each member keeps its comment, which the compiler would lose.
import { dirname, relative } from 'node:path';
import ts from 'typescript';

/** Replaces the text from `start` to `end`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

type Named = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

/** Writes types of one program out. `root` is the folder whose files have names of ours. */
export function createTypePrinter(program: ts.Program, root: string) {
  const checker = program.getTypeChecker();
  const isOurs = (file: ts.SourceFile) =>
    file.fileName.startsWith(`${root}/`) && !file.fileName.includes('node_modules');
  const ours = program.getSourceFiles().filter((file) => isOurs(file) && !file.isDeclarationFile);
  /** What a type is when it is written out, to the declaration that has a name for it. */
  const names = new Map<string, Named>();
  const expanded = new Map<ts.Type, string>();
  for (const file of ours) for (const named of file.statements.filter(isNameable)) remember(named);

  function remember(named: Named): void {
    const type = checker.getTypeAtLocation(named.name);
    const text = canonical(type);
    const known = names.get(text);
    // Of two names for the same: that of an option, else the shorter.
    const isBetter = known === undefined || compare(named.name.text, known.name.text) < 0;
    if (text.length > 20 && isBetter) names.set(text, named);
  }

  function canonical(type: ts.Type): string {
    const known = expanded.get(type);
    if (known !== undefined) return known;
    const text = createWriter(null).body(type);
    expanded.set(type, text);
    return text;
  }

  /** @param used  takes what must be imported; null: names of ours are not used */
  function createWriter(used: Map<string, Named> | null, self?: Named) {
    function body(type: ts.Type, indent = ''): string {
      if (type.isUnion()) return union(type.types, indent);
      if (type.isIntersection()) return type.types.map((one) => write(one, indent)).join(' & ');
      return object(type, indent);
    }

    function write(type: ts.Type, indent: string): string {
      const declared = declaredName(type, indent);
      if (declared !== null) return declared;
      if (type.isUnion()) return union(type.types, indent);
      if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)))
        return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
      if (checker.isArrayType(type)) return array(type, indent);
      if (checker.isTupleType(type))
        return `[${argumentsOf(type)
          .map((one) => write(one, indent))
          .join(', ')}]`;
      const found = used === null ? undefined : names.get(canonical(type));
      if (found && found !== self) return nameOf(found);
      return body(type, indent);
    }

    function nameOf(named: Named): string {
      used?.set(named.name.text, named);
      return named.name.text;
    }

    /** A type that has a name outside of zod. */
    function declaredName(type: ts.Type, indent: string): string | null {
      const symbol = type.aliasSymbol ?? type.getSymbol();
      const declaration = symbol?.declarations?.[0];
      if (!symbol || !declaration || checker.isArrayType(type) || checker.isTupleType(type)) return null;
      if (ts.isFunctionDeclaration(declaration)) return `typeof ${symbol.name}`;
      const isName =
        ts.isInterfaceDeclaration(declaration) ||
        ts.isClassDeclaration(declaration) ||
        ts.isTypeAliasDeclaration(declaration);
      const file = declaration.getSourceFile();
      if (!isName || /\/node_modules\/zod\//.test(file.fileName)) return null;
      const given = type.aliasSymbol ? (type.aliasTypeArguments ?? []) : argumentsOf(type);
      const text = given.map((one) => write(one, indent)).join(', ');
      if (!program.isSourceFileDefaultLibrary(file) && !file.fileName.includes('@types/')) {
        used?.set(symbol.name, declaration as Named);
      }
      return text === '' ? symbol.name : `${symbol.name}<${text}>`;
    }

    function argumentsOf(type: ts.Type): readonly ts.Type[] {
      const isReference = (type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference;
      if (!isReference) return [];
      const all = checker.getTypeArguments(type as ts.TypeReference);
      // A class or an interface has itself as a last argument.
      const count = (type as ts.TypeReference).target.typeParameters?.length ?? all.length;
      return all.slice(0, count);
    }

    function array(type: ts.Type, indent: string): string {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      const text = write(item as ts.Type, indent);
      const isReadonly = type.symbol.name === 'ReadonlyArray';
      return `${isReadonly ? 'readonly ' : ''}${/^[\w.<>]+$|^\{[\s\S]*\}$/.test(text) ? text : `(${text})`}[]`;
    }

    function union(types: readonly ts.Type[], indent: string): string {
      const isNothing = (type: ts.Type) => (type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0;
      const values = types.filter((type) => !isNothing(type));
      const nothing = types.filter(isNothing).map((type) => checker.typeToString(type));
      const named =
        used !== null && values.length > 1 ? names.get(join(values, '', createWriter(null).inside)) : undefined;
      const text = named && named !== self ? nameOf(named) : join(values, indent, inside);
      return [text, ...nothing.toSorted()].filter((one) => one !== '').join(' | ');
    }

    function join(types: readonly ts.Type[], indent: string, with_: typeof inside): string {
      const texts = types.map((type) => with_(type, indent));
      const isBoolean = texts.includes('true') && texts.includes('false');
      const kept = texts.filter((text) => !isBoolean || (text !== 'true' && text !== 'false'));
      return [...new Set([...kept, ...(isBoolean ? ['boolean'] : [])])].join(' | ');
    }

    function inside(type: ts.Type, indent: string): string {
      const text = write(type, indent);
      return text.includes('=>') ? `(${text})` : text;
    }

    function object(type: ts.Type, indent: string): string {
      const [signature] = type.getCallSignatures();
      if (signature && type.getProperties().length === 0) return call(signature, indent);
      const deeper = `${indent}  `;
      const lines = checker.getIndexInfosOfType(type).map((info) => {
        const key = checker.typeToString(info.keyType);
        return `${deeper}[key: ${key}]: ${write(info.type, deeper)};`;
      });
      for (const member of type.getProperties()) lines.push(property(member, deeper));
      return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
    }

    function property(member: ts.Symbol, indent: string): string {
      const name = /^[A-Za-z_$][\w$]*$/.test(member.name) ? member.name : JSON.stringify(member.name);
      const mark = member.flags & ts.SymbolFlags.Optional ? '?' : '';
      return `${commentOf(member, indent)}${indent}${name}${mark}: ${write(checker.getTypeOfSymbol(member), indent)};`;
    }

    function call(signature: ts.Signature, indent: string): string {
      const parameters = signature
        .getParameters()
        .map((one) => `${one.name}: ${write(checker.getTypeOfSymbol(one), indent)}`);
      return `(${parameters.join(', ')}) => ${write(signature.getReturnType(), indent)}`;
    }

    return { body, inside };
  }

  /** What replaces a declaration whose type a schema infers, and the names that it needs. */
  function writeOut(named: Named, used: Map<string, Named>): string {
    const writer = createWriter(used, named);
    const type = checker.getTypeAtLocation(named.name);
    const text = writer.body(type);
    return ts.isInterfaceDeclaration(named)
      ? `export interface ${named.name.text} ${text}`
      : `export type ${named.name.text} = ${text};`;
  }

  /** The edits that free a file from types which schemas infer. */
  function editsOf(file: ts.SourceFile): Edit[] {
    const used = new Map<string, Named>();
    const edits = file.statements.filter(isInferred).map((named) => ({
      start: named.getStart(file),
      end: named.end,
      text: writeOut(named, used),
    }));
    const imports = [...used.values()]
      .filter((named) => named.getSourceFile() !== file && !isInScope(file, named.name.text))
      .map((named) => `import type { ${named.name.text} } from '${specifier(file, named)}';\n`);
    return edits.length === 0 ? [] : [{ start: 0, end: 0, text: imports.join('') }, ...edits];
  }

  return { editsOf, ours };
}

/** A declaration that only gives a name to what a schema infers. */
function isInferred(statement: ts.Statement): statement is Named {
  // Keys or values of a constant, too: else the declarations would hold the constant.
  if (ts.isTypeAliasDeclaration(statement)) {
    const text = statement.type.getText();
    return (
      /^z\.(?:infer|input|output)</.test(text) ||
      (statement.typeParameters === undefined &&
        /^(?:\| )?(?:keyof typeof \w+|\(typeof \w+\)\[\w+\](?:\['\w+'\])?)(?:\s+\||$)/.test(text))
    );
  }
  if (!ts.isInterfaceDeclaration(statement) || statement.members.length > 0) return false;
  return /\bz\.(?:infer|input|output)</.test(statement.heritageClauses?.[0]?.getText() ?? '');
}

/** A type without parameters that others may be called by. */
function isNameable(statement: ts.Statement): statement is Named {
  const isExported = ts.canHaveModifiers(statement)
    ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    : false;
  if (!isExported) return false;
  if (isInferred(statement)) return true;
  return ts.isTypeAliasDeclaration(statement) && !statement.typeParameters && ts.isUnionTypeNode(statement.type);
}

function isInScope(file: ts.SourceFile, name: string): boolean {
  return file.statements.some((statement) => {
    if (!ts.isImportDeclaration(statement)) return false;
    const bindings = statement.importClause?.namedBindings;
    return bindings && ts.isNamedImports(bindings) && bindings.elements.some((one) => one.name.text === name);
  });
}

function specifier(file: ts.SourceFile, named: Named): string {
  const from = named.getSourceFile().fileName;
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(from);
  if (inPackage) return inPackage[1] as string;
  const path = relative(dirname(file.fileName), from).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** The comment of a member, and what it is where it is left out. */
function commentOf(member: ts.Symbol, indent: string): string {
  const { text, preset } = docOf(member);
  const tags = preset === null ? '' : `@default ${preset}`;
  if (text === '' && tags === '') return '';
  const lines = [...(text === '' ? [] : text.split('\n')), ...(tags === '' ? [] : [tags])];
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** The comment as it is in the source, without its marks; and the default that the schema gives, as JSON. */
export function docOf(member: ts.Symbol): { text: string; preset: string | null } {
  for (const declaration of member.declarations ?? []) {
    const comment = ts.getJSDocCommentsAndTags(declaration).find(ts.isJSDoc);
    const preset = ts.isPropertyAssignment(declaration) ? presetOf(madeBy(declaration.initializer)) : null;
    const text = comment === undefined ? '' : bare(comment.getText());
    if (text !== '' || preset !== null) return { text, preset };
  }
  return { text: '', preset: null };
}

function bare(comment: string): string {
  const lines = comment.slice(3, -2).split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

/** The schema that a field has, or that the function of a late field makes. */
function madeBy(value: ts.Expression): ts.Expression {
  return ts.isArrowFunction(value) && !ts.isBlock(value.body) ? value.body : value;
}

/** Of `….default(60_000)`: the value as JSON. Only what is written out is read. */
function presetOf(schema: ts.Expression): string | null {
  if (!ts.isCallExpression(schema) || !ts.isPropertyAccessExpression(schema.expression)) return null;
  const { name, expression } = schema.expression;
  const [given] = schema.arguments;
  if (name.text !== 'default' || !given) return presetOf(expression);
  const text = given.getText();
  if (!/^(?:[\d_*\s.]+|'[^']*'|true|false|null|\[\]|\{\}|\['[^']*'\])$/.test(text)) return null;
  return JSON.stringify(new Function(`return (${text});`)());
}

function compare(a: string, b: string): number {
  return Number(b.endsWith('Options')) - Number(a.endsWith('Options')) || a.length - b.length || (a < b ? -1 : 1);
}
