import {
  checkSchema,
  checkStops,
  choose,
  isObject,
  isObjectText,
  type Json,
  listOf,
  offer,
  pictures,
  sheet,
  typeOfDataUrl,
  type Validator,
} from './seen.ts';

interface Rules {
  /** One system message first, then a user, then turns; nothing empty: the templates of Qwen, Gemma, Llama and others. */
  takesTurns: boolean;
  /** No user right behind a tool: "Unexpected role 'user' after role 'tool'". */
  isMistral: boolean;
  ids: RegExp;
}

/**
 * Chat completions, by the words of OpenAI ("An assistant message with 'tool_calls' must be followed by tool messages
 * responding to each 'tool_call_id'", "string too long. Expected a string with maximum length 40", "[] is too short -
 * 'tools'") and, where asked for, by those of stricter servers.
 */
function chat({ takesTurns, isMistral, ids }: Rules): Validator {
  return (text) => {
    const body = JSON.parse(text) as Json;
    const seen = sheet();
    const { check } = seen;
    const messages = listOf(body.messages);
    check(messages.length > 0, 'messages: empty');
    const known = new Set<string>();
    let open: string[] = [];
    let before: Json | null = null;
    messages.forEach((message, at) => {
      const { role, content } = message;
      const path = `messages.${at}`;
      check(['system', 'user', 'assistant', 'tool'].includes(role as string), `${path}: role ${role}`);
      if (role !== 'tool') check(open.length === 0, `${path}: no result of ${open.join()}`);
      check('content' in message, `${path}: missing field content`);
      for (const part of listOf(content)) {
        const isPicture = part.type === 'image_url';
        check(part.type === 'text' || (isPicture && role === 'user'), `${path}: ${part.type} of ${role}`);
        if (part.type === 'text' && takesTurns) check(part.text !== '', `${path}: empty text`);
        if (isPicture) check(pictures.has(typeOfDataUrl((part.image_url as Json).url)), `${path}: media type`);
      }
      if (takesTurns) checkTurn(message, before, at, check);
      if (isMistral) check(!(role === 'user' && before?.role === 'tool'), `${path}: user after tool`);
      if (role === 'assistant') {
        check(!Array.isArray(message.tool_calls) || message.tool_calls.length > 0, `${path}: empty tool_calls`);
        open = [];
        for (const { id, function: called } of listOf(message.tool_calls)) {
          const { name, arguments: input } = called as { name: string; arguments: string };
          check(ids.test(id as string), `${path}: id ${id}`);
          check(!known.has(id as string), `${path}: id ${id} twice`);
          known.add(id as string);
          check(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${path}: name ${name}`);
          check(isObjectText(input), `${path}: arguments ${input}`);
          seen.calls.push({ id: id as string, name, input });
          open.push(id as string);
        }
      }
      if (role === 'tool') {
        const id = message.tool_call_id as string;
        check(open.includes(id), `${path}: result without call`);
        open = open.filter((one) => one !== id);
        seen.results.push({ id, text: JSON.stringify(content) });
      }
      before = message;
    });
    check(open.length === 0, `no result of ${open.join()}`);
    checkTools(body, seen);
    return seen;
  };
}

function checkTurn(
  message: Json,
  before: Json | null,
  at: number,
  check: (isRight: boolean, fault: string) => void,
): void {
  const { role, content, tool_calls: calls } = message;
  const path = `messages.${at}`;
  check(role !== 'system' || at === 0, `${path}: system message must be at the beginning`);
  if (before === null || before.role === 'system')
    check(role === 'user' || role === 'system', `${path}: ${role} first`);
  check(!(role === 'user' && before?.role === 'user'), `${path}: two of user`);
  check(!(role === 'assistant' && before?.role === 'assistant'), `${path}: two of assistant`);
  const isEmpty = content === '' || content === null || content === undefined || (content as unknown[]).length === 0;
  check(!isEmpty || Boolean(calls) || role === 'tool', `${path}: empty`);
}

function checkTools(body: Json, seen: ReturnType<typeof sheet>): void {
  const { check } = seen;
  check(!('tools' in body) || listOf(body.tools).length > 0, 'tools: empty');
  for (const { function: called } of listOf(body.tools)) {
    const { name, parameters } = called as Json;
    offer(seen, { name: name as string }, /^[a-zA-Z0-9_-]{1,64}$/);
    if (parameters !== undefined) checkSchema(parameters, `tools: ${name}`, check);
  }
  if (isObject(body.tool_choice)) {
    const { function: called, allowed_tools: allowed } = body.tool_choice;
    const chosen = isObject(allowed) ? listOf(allowed.tools).map((one) => one.function) : [called];
    for (const one of chosen) choose(seen, { name: (one as Json).name as string });
  }
  checkStops(body.stop, false, check);
  for (const field of ['tool_choice', 'parallel_tool_calls'])
    check(!(field in body) || 'tools' in body, `${field} without tools`);
}

export const openai = chat({ takesTurns: false, isMistral: false, ids: /^.{1,40}$/s });
export const anyServer = chat({ takesTurns: true, isMistral: false, ids: /^[\x21-\x7e]{1,40}$/ });
export const mistral = chat({ takesTurns: true, isMistral: true, ids: /^[a-zA-Z0-9]{9}$/ });
