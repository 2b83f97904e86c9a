/** Of any body. */
type Body = Record<string, unknown>;

const user = { role: 'user', content: 'Hello' };

/** A chat request that is taken, whatever part of it was made from the schema. */
export function completeChat(body: object, model = 'acme/fast'): object {
  const { messages = [], tool_choice: choice, ...rest } = body as Body;
  const said = messages as Body[];
  const calls = said.filter(({ role }) => role === 'tool').map((tool) => callOf(tool.tool_call_id));
  const called = calls.length === 0 ? [] : [{ role: 'assistant', content: null, tool_calls: calls }];
  return {
    model,
    ...rest,
    ...(choice === undefined ? {} : { tools: [offered(choice)], tool_choice: choice }),
    messages: [user, ...called, ...said, ...(said.at(-1)?.role === 'user' ? [] : [user])],
  };
}

function callOf(id: unknown): Body {
  return { id, type: 'function', function: { name: 'look', arguments: '{}' } };
}

function offered(choice: unknown): Body {
  const { type, name, function: called } = choice as Body;
  if (called !== undefined) return { type, function: called };
  return name === undefined ? { type: 'function', function: { name: 'look' } } : { type, name };
}

const outputs: Readonly<Record<string, Body>> = {
  function_call_output: { type: 'function_call', name: 'look', arguments: '{}' },
  custom_tool_call_output: { type: 'custom_tool_call', name: 'look', input: 'x' },
  local_shell_call_output: { type: 'local_shell_call', action: {} },
  tool_search_output: { type: 'tool_search_call', arguments: {} },
};

/** The same of a Responses request. */
export function completeResponses(body: object, model = 'acme/fast'): object {
  const { input = [], tool_choice: choice, ...rest } = body as Body;
  const items = typeof input === 'string' ? null : (input as Body[]);
  const called = (items ?? []).flatMap(({ type, call_id, id }) => {
    const call = outputs[String(type)];
    return call === undefined ? [] : [{ ...call, call_id: call_id ?? id ?? null }];
  });
  return {
    model,
    ...rest,
    ...(typeof choice === 'object' && choice !== null ? { tools: [offered(choice)], tool_choice: choice } : {}),
    input: items === null ? input : [...called, ...items, { type: 'message', ...user }],
  };
}
