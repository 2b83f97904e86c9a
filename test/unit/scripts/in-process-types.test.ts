import ts from 'typescript';
import { expect, it } from 'vitest';
import { inProcessEdit } from '../../../scripts/in-process-types.ts';
import { sourceProgram } from '../../../scripts/source-program.ts';
import { createGateway } from '../../../src/gateway.ts';

it('every function in process has a comment in the declarations, and no other is named', { timeout: 60_000 }, () => {
  const { edit } = inProcessEdit(
    sourceProgram()
      .getSourceFiles()
      .filter(({ isDeclarationFile }) => !isDeclarationFile),
  );
  const { diagnostics = [] } = ts.transpileModule(edit.text, { reportDiagnostics: true });
  expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
  expect(edit.text.match(/FunctionOf/g)).toHaveLength(edit.text.match(/\* [A-Z][^*]+, as [A-Z]+ /g)?.length ?? 0);
  const written = [
    ...edit.text.matchAll(/\/\*\* [A-Z][^*]+, as [A-Z]+ \/[\w/{}-]+\. \*\/\n {4,}\w+: .*api: '([\w.]+)'/g),
  ];
  const places = written.map(([, place]) => place as string);
  const gateway = createGateway({ providers: { sandbox: {} }, authenticate: 'host' });
  const api = gateway.as({ userId: 'ada', permissions: ['inference'] }) as unknown as Record<string, object>;
  const functions = [...new Set(places.map((place) => place.split('.')[0] as string))].flatMap((group) =>
    placesIn(group, api[group] ?? {}),
  );
  // It has a type of its own.
  expect([...places, 'responses.create'].toSorted()).toEqual(functions.toSorted());
  expect(places.length).toBeGreaterThan(40);
});

/** The places of all functions in a group, and in the groups in it. */
function placesIn(place: string, group: object): string[] {
  return Object.entries(group).flatMap(([name, value]) =>
    typeof value === 'function' ? [`${place}.${name}`] : placesIn(`${place}.${name}`, value as object),
  );
}
