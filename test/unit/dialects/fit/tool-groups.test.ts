import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EncodedRequest } from '../../../../src/dialects/dialect.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import { askOfResponses } from '../../../../src/formats/responses/request/index.ts';
import {
  responsesContradictions,
  responsesIssues,
  responsesRequestSchema,
} from '../../../../src/schema/responses/responses.ts';
import { type Case, cases } from '../../../support/fit/cases.ts';
import type { Seen, Tool } from '../../../support/fit/seen.ts';
import { type ClientTool, type Grouped, grouped } from '../../../support/fit/tool-groups.ts';

/** What the provider is sent, and how what it names becomes the tool that the client knows. */
function send({ dialect, model, quirks, validate }: Case, { body }: Pick<Grouped, 'body'>) {
  const request = responsesRequestSchema().parse({ model, ...body });
  expect(responsesIssues(request)).toEqual([]);
  expect(responsesContradictions(request)).toEqual([]);
  const { request: chat, native } = askOfResponses(request);
  const encoded: EncodedRequest = encodeFitted(dialect, { request: chat, native, upstreamModel: model, quirks });
  const own = (name: string) => encoded.reading?.ownNames?.get(name) ?? name;
  const isNative = dialect.format === 'responses';
  const clients = ({ name, namespace }: Tool): Omit<ClientTool, 'kind'> => {
    if (isNative) return { name: own(name), ...(namespace === undefined ? {} : { namespace: own(namespace) }) };
    const form = native?.callForms.get(own(name));
    if (form === undefined) return { name: own(name) };
    return { name: form.name, ...(form.namespace === undefined ? {} : { namespace: form.namespace }) };
  };
  return { seen: validate(encoded.body), clients };
}

const withoutKind = ({ name, namespace }: ClientTool) => ({ name, ...(namespace === undefined ? {} : { namespace }) });
const sorted = (tools: readonly object[]) => tools.map((tool) => JSON.stringify(tool)).sort();
/** Searches of tools are functions over chat, and items of their own over Responses. */
const withoutSearches = (calls: Seen['calls']) => calls.filter(({ input }) => !input.includes('"query"'));

describe.each(Object.keys(cases))('tools in groups, for %s,', (name) => {
  const one = cases[name] as Case;
  it('have names that the provider accepts, and come back as the client named them', () => {
    fc.assert(
      fc.property(grouped, (given) => {
        const before = structuredClone(given.body);
        const { seen, clients } = send(one, given);
        expect(given.body).toEqual(before);
        expect(seen.faults).toEqual([]);
        const calls = withoutSearches(seen.calls);
        // A provider that takes no calls without tools is told of them by texts.
        if (seen.tools.length > 0 || calls.length > 0) expect(calls.map(clients)).toEqual(given.calls.map(withoutKind));
        for (const [at, { input }] of calls.entries()) expect(input).toContain(given.calls[at]?.mark);
        const offered = seen.tools.map(clients);
        // Some providers cannot be told which tools may be called: they are offered no others.
        const isAll = offered.length === given.tools.length;
        expect(sorted(offered)).toEqual(sorted((isAll ? given.tools : (given.chosen ?? [])).map(withoutKind)));
        if (given.chosen === null) expect([isAll, seen.chosen]).toEqual([true, []]);
        else if (isAll && seen.chosen.length > 0)
          expect(sorted(seen.chosen.map(clients))).toEqual(sorted(given.chosen.map(withoutKind)));
      }),
      { numRuns: 150 },
    );
  });
  it('have the same names in every turn, whatever the order of the tools', () => {
    fc.assert(
      fc.property(grouped, fc.nat(12), (given, length) => {
        const { seen, clients } = send(one, given);
        const byClient = (all: Seen['tools'], of: typeof clients) =>
          new Map(all.map((tool) => [JSON.stringify(of(tool)), tool]));
        const { tools, input } = given.body;
        // Calls and their results stand beside each other.
        const earlier = input.slice(0, 1 + length);
        const last = earlier.at(-1) as { type?: string };
        if (last.type?.endsWith('_call')) earlier.pop();
        const turned = tools.toReversed().map((tool) => {
          const { tools: members } = tool as { tools?: object[] };
          return members === undefined ? tool : { ...tool, tools: members.toReversed() };
        });
        const turn = send(one, { body: { input: earlier, tools: turned } });
        expect(turn.seen.calls).toEqual(seen.calls.slice(0, turn.seen.calls.length));
        const later = byClient(seen.tools, clients);
        for (const [tool, sent] of byClient(turn.seen.tools, turn.clients))
          expect(later.get(tool) ?? sent).toEqual(sent);
      }),
      { numRuns: 100 },
    );
  });
});
