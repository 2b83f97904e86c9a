// The tables of the pages of options, from the schemas of the options and the comments of their members.
// `npm run docs` writes them; a test fails where the page differs.
import ts from 'typescript';
import type * as z from 'zod';
import { dialects } from '../src/dialects/index.ts';
import { optionsSchema } from '../src/options.ts';
import { type OptionFact, optionsOf } from './option-paths.ts';

const columns = ['Option', 'Type', 'Default', 'Meaning'];

/** An option with all that its table says. */
export interface OptionRow extends OptionFact {
  /** Its member of the option's type: where its comment is. */
  symbol: ts.Symbol;
  /** As the comment has it, with links; '' without one. */
  meaning: string;
  /** As the table has it. */
  typeCell: string;
  defaultCell: string;
}

/** Every option, in the order of the schema, and the quirks of each dialect, such as `openai-chat.dropParams`. */
export function everyOption(): OptionFact[] {
  return [
    ...optionsOf(optionsSchema()),
    ...Object.entries(dialects).flatMap(([name, dialect]) => quirksOf(name, dialect)),
  ];
}

function quirksOf(name: string, { quirks }: { quirks(): unknown }): OptionFact[] {
  return optionsOf(quirks() as z.ZodType, name);
}

/** Every option with what its comment says. */
export function optionRows(program: ts.Program): OptionRow[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFiles().find(({ fileName }) => fileName.endsWith('/src/options.ts'));
  const found = file && checker.getSymbolAtLocation(file)?.exports?.get('GatewayOptions' as ts.__String);
  if (!found) throw new Error('src/options.ts exports no GatewayOptions');
  const whole = checker.getDeclaredTypeOfSymbol(found);
  return everyOption().map((fact) => {
    const [dialect = '', ...steps] = fact.path.split('.');
    const symbol = Object.hasOwn(dialects, dialect)
      ? memberAt(checker, quirksType(program, dialect), steps.join('.'))
      : memberAt(checker, whole, fact.path);
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, ' ');
    const said = symbol.getJsDocTags(checker).find(({ name }) => name === 'default');
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
    return {
      ...fact,
      symbol,
      meaning: linked(comment),
      typeCell: fact.type ?? typeCell(checker, type),
      defaultCell: defaultCell(fact, linked(ts.displayPartsToString(said?.text).replaceAll(/\s*\n\s*/g, ' '))),
    };
  });
}

/** The pages with tables of options, by their names in docs. */
export const optionPages = [
  'options',
  'options-providers',
  'options-models',
  'options-requests',
  'record-fields',
] as const;

const between = '\n<!-- another page -->\n';

/** The pages, in this order, with their tables written anew. @throws as `writeTables` */
export function writePages(pages: readonly string[], rows: readonly OptionRow[]): string[] {
  const written = writeTables(pages.join(between), rows).split(between);
  return written.map((text, at) => text.replaceAll(`](${optionPages[at]}.md#`, '](#'));
}

/** The page with its tables written anew. @throws Error for an option without a comment or without a section */
export function writeTables(page: string, rows: readonly OptionRow[]): string {
  const silent = rows.filter(({ meaning }) => meaning === '').map(({ path }) => path);
  if (silent.length > 0) throw new Error(`These options have no comment in their schema: ${silent.join(', ')}`);
  const lines = page.split('\n');
  const written: string[] = [];
  const sections = new Set<string>();
  let prefixes: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const heading = /^## (.*)$/.exec(line)?.[1];
    if (heading !== undefined)
      prefixes = heading === 'Top level' ? [''] : [...heading.matchAll(/`([^`]+)`/g)].map(([, path]) => `${path}.`);
    written.push(line);
    if (line !== `| ${columns.join(' | ')} |`) continue;
    written.push('|---|---|---|---|');
    const [prefix = ''] = prefixes;
    for (const row of rows) if (parentOf(row.path) === prefix) written.push(rowText(row, prefix));
    for (const one of prefixes) sections.add(one);
    while (lines[at + 1]?.startsWith('|')) at++;
  }
  const lost = new Set(rows.map(({ path }) => parentOf(path)).filter((parent) => !sections.has(parent)));
  if (lost.size > 0) throw new Error(`docs has no section with a table for ${[...lost].join(', ')}`);
  return written.join('\n');
}

function rowText({ path, typeCell, defaultCell, meaning }: OptionRow, prefix: string): string {
  return `| \`${path.slice(prefix.length)}\` | ${typeCell} | ${defaultCell} | ${meaning} |`;
}

/** '' at the top, else with its dot. */
function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('.') + 1);
}

/** @param said  what the tag `@default` says: for what the gateway does where the schema itself has no default */
function defaultCell({ isRequired, isSection, path, default: given }: OptionFact, said: string): string {
  if (isRequired) return 'required';
  if (said !== '') return said;
  if (isSection && given === '{}' && !/^providers$|workspaces$/.test(path)) return 'below';
  return given === undefined ? 'none' : `\`${given}\``;
}

/** In words, for what a schema only asks for a function or some methods. */
function typeCell(checker: ts.TypeChecker, type: ts.Type): string {
  const name = type.aliasSymbol?.name ?? type.getSymbol()?.name;
  if (name === 'StoreOption' || (type.isUnion() && type.types.some((one) => one.getSymbol()?.name === 'Keyv')))
    return 'Keyv or adapter';
  if (type.isUnion()) {
    const words = type.types.map((one) => typeCell(checker, one));
    return [...new Set(words)].toSorted().join(' or ');
  }
  if (type.isStringLiteral()) return `\`${type.value}\``;
  // A text that is marked, such as the id of a workspace.
  if (type.isIntersection() && type.types.some((one) => one.flags & ts.TypeFlags.String)) return 'string';
  if (checker.isArrayType(type)) return 'list';
  if (type.getCallSignatures().length > 0) return 'function';
  if (type.flags & ts.TypeFlags.Object) return name ?? 'object';
  return checker.typeToString(type);
}

/** `docs/storage.md#x` in a comment becomes a link of the page. */
function linked(text: string): string {
  return text.replaceAll(
    /\bdocs\/([a-z-]+)\.md(#[\w-]+)?/g,
    (_, page: string, anchor = '') => `[${page.replace(/^options-/, '')}](${page}.md${anchor})`,
  );
}

/** The type of the quirks of a dialect. */
function quirksType(program: ts.Program, dialect: string): ts.Type {
  const checker = program.getTypeChecker();
  const file = program.getSourceFiles().find(({ fileName }) => fileName.endsWith('/src/dialects/index.ts'));
  const list = file && checker.getSymbolAtLocation(file)?.exports?.get('dialects' as ts.__String);
  const one = list && checker.getPropertyOfType(checker.getTypeOfSymbol(list), dialect);
  const quirks = one && checker.getPropertyOfType(checker.getTypeOfSymbol(one), 'quirks');
  const schema = quirks && checker.getTypeOfSymbol(quirks).getCallSignatures()[0]?.getReturnType();
  const [type] = schema ? checker.getTypeArguments(schema as ts.TypeReference) : [];
  if (!type) throw new Error(`The dialect ${dialect} has no type of quirks`);
  return type;
}

/** @param path  such as `models[].endpoints[].provider` or `providers.<slug>.apiKey` */
function memberAt(checker: ts.TypeChecker, whole: ts.Type, path: string): ts.Symbol {
  let type = whole;
  let symbol: ts.Symbol | undefined;
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    if (name === '<slug>') {
      type = checker.getNonNullableType(type.getStringIndexType() as ts.Type);
      continue;
    }
    const holders = type.isUnion() ? type.types : [type];
    // A provider as options, or one that was made elsewhere: the options are what the page is about.
    const own = holders.filter((one) => !['Provider'].includes(one.getSymbol()?.name ?? ''));
    symbol = own.map((one) => checker.getPropertyOfType(one, name)).find((one) => one !== undefined);
    if (!symbol) throw new Error(`The type of the options has no ${path}`);
    type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
    if (step.endsWith('[]'))
      type = checker.getNonNullableType(checker.getIndexTypeOfType(type, ts.IndexKind.Number) as ts.Type);
  }
  return symbol as ts.Symbol;
}
