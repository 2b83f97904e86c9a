import fc from 'fast-check';

/** A tool as the client knows it. */
export interface ClientTool {
  kind: 'function' | 'custom';
  name: string;
  namespace?: string;
}

/** A Responses request with tools in groups, and what the model must be told of them. */
export interface Grouped {
  body: { input: object[]; tools: object[]; tool_choice?: unknown };
  tools: ClientTool[];
  /** The calls of the conversation, each with a mark that stands in its arguments. */
  calls: (ClientTool & { mark: string })[];
  /** The tools that a choice names; null: none does. */
  chosen: ClientTool[] | null;
}

/** Names that several providers refuse, and some that read the same when a group and a name are put together. */
const names = ['look', 'read.file', '2fa', 'get weather', 'x'.repeat(70), `${'x'.repeat(69)}y`, 'ä', 'b__c', 'c', '_c'];
const groups = ['mcp__fs', 'mcp__fs__', 'mcp.fs', '2nd', 'a', 'a__b', 'a__', 'x'.repeat(64), 'g'.repeat(70), 'ä ö'];

const name = fc.constantFrom(...names);
/** Of the two kinds, one name has one: a provider is not given two tools of one name. */
const customs: ReadonlySet<string> = new Set(['2fa', '_c', 'get weather']);
const parameters = fc.constantFrom<object | undefined>(
  undefined,
  {},
  { type: 'object' },
  { properties: { q: { type: 'array' } }, required: null },
);
const member = fc
  .record({ name, parameters })
  .map((own) => ({ ...own, kind: customs.has(own.name) ? ('custom' as const) : ('function' as const) }));
type Member = typeof member extends fc.Arbitrary<infer Made> ? Made : never;
const members = fc.uniqueArray(member, { selector: ({ name: one }) => one, maxLength: 4 });
const group = fc.record({ name: fc.constantFrom(...groups), members });
/** Tools that stand in one place: plain ones, and groups. */
const given = fc.record({
  plain: members,
  groups: fc.uniqueArray(group, { selector: ({ name: one }) => one, maxLength: 4 }),
});
type Given = typeof given extends fc.Arbitrary<infer Made> ? Made : never;

type Step =
  | { step: 'said' }
  | { step: 'call'; which: number; isGuess: boolean; guess: Member; guessed: string }
  | { step: 'more'; given: Given; isFound: boolean };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ step: fc.constant('said' as const) }),
  fc.record({
    step: fc.constant('call' as const),
    which: fc.nat(30),
    // A tool that is not offered, or no longer.
    isGuess: fc.boolean(),
    guess: member,
    guessed: fc.constantFrom('', ...groups),
  }),
  fc.record({ step: fc.constant('more' as const), given, isFound: fc.boolean() }),
);
const choice = fc.constantFrom('unset', 'auto', 'required', 'one', 'some', 'group');

/** Random Responses requests. Tools come in the request, and in items of the conversation. */
export const grouped: fc.Arbitrary<Grouped> = fc
  .record({ given, steps: fc.array(step, { maxLength: 6 }), choice, which: fc.nat(30) })
  .map(({ given: first, steps, choice: asked, which }) => {
    const made: Grouped = {
      body: { input: [{ role: 'user', content: 'Begin.' }], tools: wireTools(first) },
      tools: [],
      calls: [],
      chosen: null,
    };
    offer(made, first);
    for (const [at, one] of steps.entries()) addStep(made, one, at);
    choose(made, asked, which);
    return made;
  });

function wireTools({ plain, groups: all }: Given): object[] {
  const tool = ({ kind: type, name: own, parameters: schema }: Member) => ({
    type,
    name: own,
    ...(type === 'custom' || schema === undefined ? {} : { parameters: structuredClone(schema) }),
  });
  const inGroups = all.map(({ name: own, members: inside }) => ({
    type: 'namespace',
    name: own,
    description: 'A group.',
    tools: inside.map(tool),
  }));
  return [...plain.map(tool), ...inGroups];
}

function offer({ tools }: Grouped, { plain, groups: all }: Given): void {
  const add = (tool: ClientTool) => {
    if (!tools.some((one) => isSame(one, tool))) tools.push(tool);
  };
  for (const { kind: own, name: called } of plain) add({ kind: own, name: called });
  for (const { name: namespace, members: inside } of all)
    for (const { kind: own, name: called } of inside) add({ kind: own, name: called, namespace });
}

export function isSame(one: ClientTool, other: ClientTool): boolean {
  return one.kind === other.kind && one.name === other.name && one.namespace === other.namespace;
}

function addStep(made: Grouped, one: Step, at: number): void {
  const { input } = made.body;
  if (one.step === 'said') input.push({ role: 'user', content: `Word ${at}.` });
  else if (one.step === 'more') {
    const tools = wireTools(one.given);
    if (one.isFound) {
      const of = { call_id: `search_${at}`, execution: 'client' };
      input.push({ type: 'tool_search_call', ...of, arguments: { query: 'q' } });
      input.push({ type: 'tool_search_output', ...of, tools });
    } else input.push({ type: 'additional_tools', role: 'developer', tools });
    offer(made, one.given);
  } else addCall(made, one, at);
}

function addCall({ body, tools, calls }: Grouped, one: Extract<Step, { step: 'call' }>, at: number): void {
  const { kind: own, name: called } = one.guess;
  const guess: ClientTool = { kind: own, name: called, ...(one.guessed === '' ? {} : { namespace: one.guessed }) };
  // A name without its group stands for the tool of that name in any group.
  const isOfGroup = one.guessed === '' && tools.some((tool) => tool.name === called);
  const tool =
    tools.length === 0 || (one.isGuess && !isOfGroup) ? guess : (tools[one.which % tools.length] as ClientTool);
  const { kind: type, ...named } = tool;
  const mark = `mark${at}.`;
  const of = { call_id: `call_${at}`, ...named };
  body.input.push(
    type === 'function'
      ? { type: 'function_call', ...of, arguments: JSON.stringify({ q: mark }) }
      : { type: 'custom_tool_call', ...of, input: mark },
  );
  body.input.push({
    type: type === 'function' ? 'function_call_output' : 'custom_tool_call_output',
    call_id: of.call_id,
    output: `Result ${at}.`,
  });
  calls.push({ ...tool, mark });
}

function choose(made: Grouped, asked: string, which: number): void {
  const { tools, body } = made;
  const wire = ({ kind: type, ...named }: ClientTool) => ({ type, ...named });
  if (asked === 'unset') return;
  if (asked === 'auto' || (asked === 'required' && tools.length > 0)) body.tool_choice = asked;
  if (tools.length === 0) return;
  const one = tools[which % tools.length] as ClientTool;
  if (asked === 'one') {
    made.chosen = [one];
    body.tool_choice = wire(one);
  } else if (asked === 'some' || (asked === 'group' && one.namespace === undefined)) {
    made.chosen = tools.filter((_, at) => at % 2 === which % 2);
    if (made.chosen.length === 0) made.chosen = [one];
    body.tool_choice = { type: 'allowed_tools', mode: 'auto', tools: made.chosen.map(wire) };
  } else if (asked === 'group') {
    made.chosen = tools.filter(({ namespace }) => namespace === one.namespace);
    body.tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'namespace', name: one.namespace }] };
  }
}
