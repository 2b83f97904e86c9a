import {
  checkSchema,
  checkStops,
  choose,
  isObject,
  type Json,
  listOf,
  offer,
  pictures,
  sheet,
  typeOfDataUrl,
  type Validator,
} from './seen.ts';

const words = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The Responses API: `call_id` has 1 to 64 characters; "No tool output found for function call", "No tool call found for
 * function call output"; "Invalid 'tools[0].name': string does not match pattern", for groups and their members too.
 */
export const responses: Validator = (text) => {
  const body = JSON.parse(text) as Json;
  const seen = sheet();
  const open = new Set<string>();
  const known = new Set<string>();
  for (const [at, item] of listOf(body.input).entries()) {
    const id = item.call_id as string;
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      seen.check(id.length >= 1 && id.length <= 64, `input.${at}: call_id ${id}`);
      seen.check(!known.has(id), `input.${at}: call_id twice`);
      const { name, namespace = null } = item as { name: string; namespace?: string | null };
      seen.check(words.test(name), `input.${at}: name ${name}`);
      seen.check(namespace === null || words.test(namespace), `input.${at}: namespace ${namespace}`);
      known.add(id);
      open.add(id);
      const input = (item.arguments ?? item.input) as string;
      seen.calls.push({ id, name, input, ...(namespace === null ? {} : { namespace }) });
    }
    // A tool that was found again may stand in several items.
    if (item.type === 'additional_tools' || item.type === 'tool_search_output') offerAll(item.tools, new Set());
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      seen.check(open.delete(id), `input.${at}: No tool call found for ${id}`);
      seen.results.push({ id, text: JSON.stringify(item.output) });
      for (const part of listOf(item.output))
        if (part.type === 'input_image') seen.check(pictures.has(typeOfDataUrl(part.image_url)), `input.${at}: type`);
    }
  }
  seen.check(open.size === 0, `No tool output found for ${[...open].join()}`);
  seen.check(!('tools' in body) || listOf(body.tools).length > 0, 'tools: empty');
  const isIdle = body.tool_choice === undefined || body.tool_choice === 'auto';
  seen.check(isIdle || 'tools' in body || seen.tools.length > 0, 'tool_choice without tools');
  offerAll(body.tools, new Set());
  const { tool_choice: choice } = body;
  const chosen = !isObject(choice) ? [] : choice.type === 'allowed_tools' ? listOf(choice.tools) : [choice];
  for (const { type, name, namespace } of chosen as { type: string; name: string; namespace?: string }[])
    if (type === 'namespace') {
      const members = seen.tools.filter((tool) => tool.namespace === name);
      seen.check(members.length > 0, `tool_choice: ${name} is no namespace`);
      seen.chosen.push(...members);
    } else if (type === 'function' || type === 'custom')
      choose(seen, namespace === undefined ? { name } : { name, namespace });
  return seen;

  function offerAll(tools: unknown, here: Set<string>, namespace?: string): void {
    for (const tool of listOf(tools)) {
      const { type, name, parameters } = tool as { type: string; name: string; parameters?: Json };
      if (type === 'namespace') {
        seen.check(words.test(name), `tools: namespace ${name}`);
        offerAll(tool.tools, here, name);
      } else if (type === 'function' || type === 'custom') {
        const own = namespace === undefined ? { name } : { name, namespace };
        const key = JSON.stringify(own);
        seen.check(!here.has(key), `tools: ${key} twice`);
        here.add(key);
        seen.tools = seen.tools.filter((one) => JSON.stringify(one) !== key);
        offer(seen, own, words);
      }
      if (type === 'function' && parameters !== undefined) checkSchema(parameters, `tools: ${name}`, seen.check);
    }
  }
};

/**
 * Anthropic's Messages: 'first message must use the "user" role', "text content blocks must contain non-whitespace text",
 * "`tool_use` ids were found without `tool_result` blocks immediately after", "`tool_use` ids must be unique", ids of
 * `^[a-zA-Z0-9_-]+$`.
 */
export const anthropic: Validator = (text) => {
  const body = JSON.parse(text) as Json;
  const seen = sheet();
  const { check } = seen;
  const turns = listOf(body.messages);
  const known = new Set<string>();
  check(turns[0]?.role === 'user', 'first message must use the "user" role');
  for (const block of listOf(body.system)) check(String(block.text).trim() !== '', 'system: blank');
  let open: string[] = [];
  turns.forEach((turn, at) => {
    const blocks = listOf(turn.content);
    check(blocks.length > 0, `messages.${at}: empty`);
    check(turn.role !== turns[at - 1]?.role, `messages.${at}: ${turn.role} twice`);
    const answered = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id as string);
    check(same(answered, open), `messages.${at}: results ${answered.join()} of calls ${open.join()}`);
    const first = blocks.findIndex(({ type }) => type !== 'tool_result');
    check(
      first < 0 || !blocks.slice(first).some(({ type }) => type === 'tool_result'),
      `messages.${at}: results first`,
    );
    open = [];
    for (const block of blocks) {
      if (block.type === 'text') check(String(block.text).trim() !== '', `messages.${at}: blank text`);
      if (block.type === 'image')
        check(pictures.has((block.source as Json).media_type as string), `messages.${at}: type`);
      if (block.type === 'tool_result') {
        seen.results.push({ id: block.tool_use_id as string, text: JSON.stringify(block.content) });
        for (const inner of listOf(block.content))
          check(inner.type !== 'text' || String(inner.text).trim() !== '', `messages.${at}: blank in result`);
      }
      if (block.type !== 'tool_use') continue;
      const { id, name, input } = block as { id: string; name: string; input: unknown };
      check(/^[a-zA-Z0-9_-]+$/.test(id) && !known.has(id), `messages.${at}: id ${id}`);
      check(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `messages.${at}: name ${name}`);
      check(isObject(input), `messages.${at}: input`);
      known.add(id);
      open.push(id);
      seen.calls.push({ id, name, input: JSON.stringify(input) });
    }
  });
  check(open.length === 0, `no results of ${open.join()}`);
  for (const { name, input_schema: schema } of listOf(body.tools)) {
    offer(seen, { name: name as string }, words);
    checkSchema(schema, `tools: ${name}`, check);
  }
  if (isObject(body.tool_choice) && body.tool_choice.type === 'tool')
    choose(seen, { name: body.tool_choice.name as string });
  checkStops(body.stop_sequences, true, check);
  check(!('tool_choice' in body) || 'tools' in body, 'tool_choice without tools');
  return seen;
};

/**
 * Bedrock's Converse: "A conversation must start with a user message", "The text field in the ContentBlock object is
 * blank", "Expected toolResult blocks at messages.2.content", `toolUseId` of `[a-zA-Z0-9_-]{1,64}`, a text beside each
 * document, no mark right behind one.
 */
const bedrockOf =
  (isClaude: boolean): Validator =>
  (text) => {
    const body = JSON.parse(text) as Json;
    const seen = sheet();
    const { check } = seen;
    const turns = listOf(body.messages);
    const known = new Set<string>();
    check(turns[0]?.role === 'user', 'A conversation must start with a user message');
    for (const block of listOf(body.system))
      check(!('text' in block) || String(block.text).trim() !== '', 'system: blank');
    let open: string[] = [];
    turns.forEach((turn, at) => {
      const blocks = listOf(turn.content);
      check(blocks.length > 0 && turn.role !== turns[at - 1]?.role, `messages.${at}: empty, or ${turn.role} twice`);
      const answered = blocks.flatMap(({ toolResult }) =>
        isObject(toolResult) ? [toolResult.toolUseId as string] : [],
      );
      check(same(answered, open), `messages.${at}: results ${answered.join()} of calls ${open.join()}`);
      open = [];
      const hasDocument = blocks.some((block) => 'document' in block);
      check(!hasDocument || blocks.some((block) => 'text' in block), `messages.${at}: a text block must be included`);
      blocks.forEach((block, place) => {
        const before = blocks[place - 1] ?? {};
        if ('cachePoint' in block)
          check(place > 0 && !('document' in before) && !('reasoningContent' in before), `messages.${at}: cachePoint`);
        if ('text' in block) check(String(block.text).trim() !== '', `messages.${at}: blank`);
        if (isObject(block.image))
          check(['png', 'jpeg', 'gif', 'webp'].includes(block.image.format as string), 'format');
        if (isObject(block.toolResult)) {
          const { toolUseId, content } = block.toolResult;
          check(listOf(content).length > 0, `messages.${at}: empty result`);
          seen.results.push({ id: toolUseId as string, text: JSON.stringify(content) });
        }
        if (!isObject(block.toolUse)) return;
        const { toolUseId: id, name, input } = block.toolUse as { toolUseId: string; name: string; input: unknown };
        check(/^[a-zA-Z0-9_-]{1,64}$/.test(id) && !known.has(id), `messages.${at}: toolUseId ${id}`);
        check(/^[a-zA-Z0-9_-]{1,64}$/.test(name) && isObject(input), `messages.${at}: ${name}`);
        known.add(id);
        open.push(id);
        seen.calls.push({ id, name, input: JSON.stringify(input) });
      });
    });
    check(open.length === 0, `no results of ${open.join()}`);
    const { tools, toolChoice } = (body.toolConfig ?? {}) as Json;
    for (const { toolSpec } of listOf(tools)) {
      if (!isObject(toolSpec)) continue;
      const { name, inputSchema } = toolSpec;
      offer(seen, { name: name as string }, words);
      if (isObject(inputSchema)) checkSchema(inputSchema.json, `toolConfig: ${name}`, check);
    }
    if (isObject(toolChoice) && isObject(toolChoice.tool)) choose(seen, { name: toolChoice.tool.name as string });
    checkStops((body.inferenceConfig as Json | undefined)?.stopSequences, isClaude, check);
    return seen;
  };
export const bedrock = bedrockOf(true);
export const bedrockOfOthers = bedrockOf(false);

/**
 * Gemini: "Please ensure that function call turn comes immediately after a user turn or after a function response turn",
 * "the number of function response parts is equal to the number of function call parts", "must start with a letter or an
 * underscore", "Unable to submit request because it must have a text parameter".
 */
export const google: Validator = (text) => {
  const body = JSON.parse(text) as Json;
  const seen = sheet();
  const { check } = seen;
  const contents = listOf(body.contents);
  check(contents[0]?.role === 'user', 'contents.0: not of the user');
  const system = isObject(body.systemInstruction) ? listOf(body.systemInstruction.parts) : [];
  for (const part of system) check(part.text !== '', 'systemInstruction: empty text');
  let open: string[] = [];
  contents.forEach(({ role, parts }, at) => {
    const all = listOf(parts);
    check(all.length > 0 && role !== contents[at - 1]?.role, `contents.${at}: empty, or ${role} twice`);
    const answered = all.flatMap(({ functionResponse: one }) => (isObject(one) ? [`${one.id} ${one.name}`] : []));
    check(answered.join() === open.join(), `contents.${at}: responses ${answered.join()} of calls ${open.join()}`);
    open = [];
    for (const part of all) {
      if ('text' in part) check(part.text !== '', `contents.${at}: empty text`);
      if (isObject(part.inlineData)) check(pictures.has(part.inlineData.mimeType as string), `contents.${at}: type`);
      if (isObject(part.functionResponse)) {
        const { id, response, parts: media } = part.functionResponse;
        seen.results.push({ id: id as string, text: JSON.stringify([response, media]) });
      }
      if (!isObject(part.functionCall)) continue;
      const { id, name, args } = part.functionCall as { id: string; name: string; args: unknown };
      check(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(name) && isObject(args), `contents.${at}: ${name}`);
      check(!seen.calls.some((call) => call.id === id), `contents.${at}: id ${id} twice`);
      open.push(`${id} ${name}`);
      seen.calls.push({ id, name, input: JSON.stringify(args) });
    }
  });
  check(open.length === 0, `no response of ${open.join()}`);
  for (const { functionDeclarations } of listOf(body.tools))
    for (const { name, parametersJsonSchema: schema } of listOf(functionDeclarations)) {
      offer(seen, { name: name as string }, /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/);
      if (schema !== undefined) checkSchema(schema, `tools: ${name}`, check);
    }
  const calling = (body.toolConfig as Json | undefined)?.functionCallingConfig as Json | undefined;
  for (const name of (calling?.allowedFunctionNames ?? []) as string[]) choose(seen, { name });
  checkStops((body.generationConfig as Json | undefined)?.stopSequences, false, check);
  return seen;
};

/** Cohere's chat: names of letters, digits and `_` that begin with no digit; results are text, each of an earlier call. */
export const cohere: Validator = (text) => {
  const body = JSON.parse(text) as Json;
  const seen = sheet();
  const { check } = seen;
  const open = new Set<string>();
  listOf(body.messages).forEach((message, at) => {
    if (message.role !== 'tool') check(open.size === 0, `messages.${at}: no result of ${[...open].join()}`);
    for (const { id, function: called } of listOf(message.tool_calls)) {
      const { name, arguments: input } = called as { name: string; arguments: string };
      check(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), `messages.${at}: ${name}`);
      check(!seen.calls.some((call) => call.id === id), `messages.${at}: id ${id} twice`);
      open.add(id as string);
      seen.calls.push({ id: id as string, name, input });
    }
    if (message.role !== 'tool') {
      check(Boolean(message.content?.toString()) || 'tool_calls' in message, `messages.${at}: says nothing`);
      return;
    }
    check(open.delete(message.tool_call_id as string), `messages.${at}: result without call`);
    check(
      listOf(message.content).every(({ type }) => type === 'text'),
      `messages.${at}: no text`,
    );
    seen.results.push({ id: message.tool_call_id as string, text: JSON.stringify(message.content) });
  });
  check(open.size === 0, `no result of ${[...open].join()}`);
  check(!('tools' in body) || listOf(body.tools).length > 0, 'tools: empty');
  for (const { function: called } of listOf(body.tools)) {
    const { name, parameters } = called as { name: string; parameters: unknown };
    offer(seen, { name }, /^[A-Za-z_][A-Za-z0-9_]{0,63}$/);
    checkSchema(parameters, `tools: ${name}`, check);
  }
  checkStops(body.stop_sequences, false, check);
  return seen;
};

/** A language model of the AI SDK: instructions at the beginning alone, each call with its result, inputs that are objects. */
export const aiSdk: Validator = (text) => {
  const body = JSON.parse(text) as Json;
  const seen = sheet();
  const { check } = seen;
  const open = new Set<string>();
  listOf(body.prompt).forEach(({ role, content }, at) => {
    check(role !== 'system' || at === 0, `prompt.${at}: system messages are only supported at the beginning`);
    if (role !== 'tool') check(open.size === 0, `prompt.${at}: no result of ${[...open].join()}`);
    for (const part of listOf(content)) {
      if (part.type === 'text') check(String(part.text).trim() !== '', `prompt.${at}: blank`);
      if (part.type === 'file') check(pictures.has(part.mediaType as string), `prompt.${at}: ${part.mediaType}`);
      if (part.type === 'tool-call') {
        const {
          toolCallId: id,
          toolName: name,
          input,
        } = part as { toolCallId: string; toolName: string; input: unknown };
        check(/^[A-Za-z0-9_-]{1,40}$/.test(id) && !seen.calls.some((call) => call.id === id), `prompt.${at}: id ${id}`);
        check(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) && isObject(input), `prompt.${at}: ${name}`);
        open.add(id);
        seen.calls.push({ id, name, input: JSON.stringify(input) });
      }
      if (part.type !== 'tool-result') continue;
      check(open.delete(part.toolCallId as string), `prompt.${at}: result without call`);
      seen.results.push({ id: part.toolCallId as string, text: JSON.stringify(part.output) });
    }
  });
  check(open.size === 0, `no result of ${[...open].join()}`);
  for (const { name, inputSchema } of listOf(body.tools)) {
    offer(seen, { name: name as string }, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    checkSchema(inputSchema, `tools: ${name}`, check);
  }
  if (isObject(body.toolChoice) && body.toolChoice.type === 'tool')
    choose(seen, { name: body.toolChoice.toolName as string });
  checkStops(body.stopSequences, false, check);
  return seen;
};

function same(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
