// The functions in process, written out with a comment each: a mapped type has none to show where a reader's editor asks.
import ts from 'typescript';
import { operationTexts } from './openapi-texts.ts';
import type { Edit } from './print-types.ts';

/** An operation that has a function. */
interface Described {
  /** Its place, such as `workspaces.create`. */
  api: string;
  name: string;
  method: string;
  path: string;
}

const typeName = 'InProcessApi';

/** The edit that writes the functions of `InProcessApi` out. @throws Error where there is nothing to write */
export function inProcessEdit(files: readonly ts.SourceFile[]): { file: ts.SourceFile; edit: Edit } {
  const file = files.find(({ fileName }) => fileName.endsWith('/src/setup/in-process.ts'));
  const type = file?.statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === typeName,
  );
  const described = files
    .filter(({ fileName }) => fileName.includes('/src/operations/'))
    .flatMap(functionsIn)
    // `explain` is in no group, and has a type of its own.
    .filter(({ api }) => api.includes('.'));
  if (!file || !type || described.length === 0) throw new Error(`There is no ${typeName} to be written out`);
  const groups = Map.groupBy(described, ({ api }) => api.slice(0, api.indexOf('.')));
  const text = [...groups].map(([group, members]) => {
    return `  /** Operations as functions. */\n  readonly ${group}: {\n${membersOf(group, members)}\n  };`;
  });
  const edit = {
    start: type.getStart(file),
    end: type.getEnd(),
    text: `export type ${typeName} = {\n${text.join('\n')}\n};`,
  };
  return { file, edit };
}

/** The functions of a group, and those of the groups in it. */
function membersOf(group: string, members: readonly Described[]): string {
  const nameOf = ({ api }: Described) => api.slice(group.length + 1);
  const [inner, own] = [
    members.filter((one) => nameOf(one).includes('.')),
    members.filter((one) => !nameOf(one).includes('.')),
  ];
  const lines = own.map(
    ({ api, ...one }) =>
      `    /** ${sentenceOf(one)} */\n    ${nameOf({ api, ...one })}: FunctionOf<Extract<Callable, { api: '${api}' }>>;`,
  );
  const groups = Map.groupBy(inner, (one) => nameOf(one).slice(0, nameOf(one).indexOf('.')));
  for (const [name, of] of groups)
    lines.push(
      `    /** Operations as functions. */\n    readonly ${name}: {\n${membersOf(`${group}.${name}`, of)}\n    };`,
    );
  return lines.join('\n');
}

function sentenceOf({ name, method, path }: Omit<Described, 'api'>): string {
  const summary = operationTexts[name]?.summary;
  if (summary === undefined) throw new Error(`scripts/openapi-texts.ts says nothing of ${name}`);
  return `${summary}, as ${method} ${path.replaceAll(/:(\w+)\+?/g, '{$1}')}.`;
}

/** The operations of a file: functions that return an `ApiOperation` with its place as the first argument. */
function functionsIn(file: ts.SourceFile): Described[] {
  return file.statements.filter(ts.isFunctionDeclaration).flatMap((declaration) => {
    const { type, name, body } = declaration;
    if (!type || !name || !ts.isTypeReferenceNode(type) || type.typeName.getText(file) !== 'ApiOperation') return [];
    const [place] = type.typeArguments ?? [];
    if (!place || !ts.isLiteralTypeNode(place) || !ts.isStringLiteral(place.literal)) return [];
    const text = body?.getText(file) ?? '';
    const field = (one: string) => new RegExp(`\\b${one}: '([^']+)'`).exec(text)?.[1] ?? '';
    // The operation of a task names no method: it is a POST.
    const method = field('method') || 'POST';
    return [{ api: place.literal.text, name: field('name') || name.text, method, path: field('path') }];
  });
}
