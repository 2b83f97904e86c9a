import { describe, expect, it } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { type Said, type SpeakingFormat, speakingFormats, speakingUpstream } from '../support/speaking-upstream.ts';
import { askInItems } from '../support/turn-clients.ts';

type Json = Record<string, unknown>;

const parameters = { type: 'object', properties: { q: { type: 'string' } } };
const fn = (name: string) => ({ type: 'function', name, parameters });
/** Names with characters, lengths and beginnings that providers refuse, and two that read the same when put together. */
const groups = [
  { type: 'namespace', name: 'mcp__fs', description: 'Files', tools: [fn('read'), fn('read.file')] },
  { type: 'namespace', name: '2nd.server', description: 'Second', tools: [fn('read'), fn('get weather')] },
  { type: 'namespace', name: 'a', description: 'A', tools: [fn('b__c')] },
  { type: 'namespace', name: 'a__b', description: 'AB', tools: [fn('c')] },
  {
    type: 'namespace',
    name: 'n'.repeat(100),
    description: 'Long',
    tools: [fn('m'.repeat(100)), fn(`${'m'.repeat(99)}x`)],
  },
];
const members = groups.flatMap(({ name: namespace, tools }) => tools.map(({ name }) => ({ name, namespace })));

/** The tools that a provider is offered, as its model calls them. */
function offeredIn(format: SpeakingFormat, body: Json): { call: string; namespace?: string }[] {
  const tools = (body.tools ?? (body.toolConfig as Json | undefined)?.tools ?? []) as Json[];
  return tools.flatMap((tool): { call: string; namespace?: string }[] => {
    if (format === 'openai-chat') return [{ call: (tool.function as Json).name as string }];
    if (format === 'bedrock-converse')
      return tool.toolSpec === undefined ? [] : [{ call: (tool.toolSpec as Json).name as string }];
    if (format === 'google-generate-content')
      return (tool.functionDeclarations as Json[]).map(({ name }) => ({ call: name as string }));
    return (tool.tools as Json[]).map(({ name }) => ({ call: name as string, namespace: tool.name as string }));
  });
}

const models: Record<SpeakingFormat, string> = {
  'openai-chat': 'own-1',
  'openai-responses': 'gpt-5.1',
  'google-generate-content': 'gemini-3-pro',
  'bedrock-converse': 'anthropic.claude-opus-5-5-v1:0',
};

describe.each(Object.keys(speakingFormats) as SpeakingFormat[])('over %s, functions in a namespace', (format) => {
  it.each([false, true])('come back with the name and the namespace of the client, streamed: %s', async (stream) => {
    const callsAll = (body: Json): Said =>
      offeredIn(format, body).map((tool, at) => ({ ...tool, input: { q: `${at}` } }));
    const upstream = speakingUpstream(format, callsAll);
    const tested = testGateway({
      transport: upstream.transport,
      providers: { up: { dialect: format, baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789' } } as never,
      models: [{ slug: 'acme/one', endpoints: [{ provider: 'up', model: models[format] }] }],
    });
    const history: Json[] = [];
    for (const tools of [groups, groups.toReversed()]) {
      history.push({ role: 'user', content: 'Go.' });
      const { items } = await askInItems(tested, { model: 'acme/one', stream, history, tools });
      const calls = items.filter(({ type }) => type === 'function_call');
      const called = calls.map(({ name, namespace }) => JSON.stringify({ name, namespace })).sort();
      expect(called).toEqual(members.map((one) => JSON.stringify(one)).sort());
      history.push(...items);
      for (const { call_id } of calls) history.push({ type: 'function_call_output', call_id, output: 'done' });
    }
    const [first, second] = upstream.sent.map(({ body }) => body) as [Json, Json];
    for (const { call, namespace } of offeredIn(format, first))
      expect(`${call} ${namespace ?? 'none'}`).toMatch(/^[\w-]{1,64} [\w-]{1,64}$/);
    const names = (body: Json) => offeredIn(format, body).map((tool) => JSON.stringify(tool));
    expect(new Set(names(first)).size).toBe(members.length);
    expect(names(second).sort()).toEqual(names(first).sort());
    // The history names the tools as the model called them.
    for (const { call } of offeredIn(format, first))
      expect(JSON.stringify(upstream.messages(second))).toContain(JSON.stringify(call));
  });
});
