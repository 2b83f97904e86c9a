type Json = Record<string, unknown>;

/** What a response of Anthropic says, or ours of the same, as far as chat completions can express it. */
export interface MessageSaid {
  text: string;
  reasoning: string;
  /** Blocks of thoughts as Anthropic sends them and wants them back. */
  thoughts: Json[];
  calls: { id: string; name: string; input: unknown }[];
  /** What was cited: `[address or name, words, text that rests on it]`. */
  citations: [origin: string, words: string, resting: string][];
  stop: string | null;
  refusal: string | null;
  tokens: { prompt: number; cached: number; written: number; completion: number; thinking: number | null } | null;
}

/** Anthropic's own format, whole. It knows the format by itself, so that it can judge the dialect. */
export function readMessage(message: Json): MessageSaid {
  const said: MessageSaid = {
    text: '',
    reasoning: '',
    thoughts: [],
    calls: [],
    citations: [],
    stop: (message.stop_reason as string | null) ?? null,
    refusal: ((message.stop_details as Json | null)?.explanation as string | undefined) ?? null,
    tokens: tokensOf(message.usage as Json | undefined),
  };
  for (const block of message.content as Json[]) {
    if (block.type === 'text') {
      said.text += block.text as string;
      for (const one of (block.citations as Json[] | null | undefined) ?? [])
        said.citations.push([
          (one.url ?? one.document_title) as string,
          one.cited_text as string,
          block.text as string,
        ]);
    }
    if (block.type === 'thinking') {
      said.reasoning += block.thinking as string;
      said.thoughts.push({ type: 'thinking', thinking: block.thinking, signature: block.signature });
    }
    if (block.type === 'redacted_thinking') said.thoughts.push({ type: 'redacted_thinking', data: block.data });
    if (block.type === 'tool_use')
      said.calls.push({ id: block.id as string, name: block.name as string, input: block.input });
  }
  return said;
}

function tokensOf(usage: Json | undefined): MessageSaid['tokens'] {
  if (!usage) return null;
  const number = (value: unknown) => (typeof value === 'number' ? value : 0);
  const cached = number(usage.cache_read_input_tokens);
  const written = number(usage.cache_creation_input_tokens);
  return {
    prompt: number(usage.input_tokens) + cached + written,
    cached,
    written,
    completion: number(usage.output_tokens),
    thinking: ((usage.output_tokens_details as Json | undefined)?.thinking_tokens as number | undefined) ?? null,
  };
}

/** The events of a stream, put together to the message that they tell. Only for `\n` and one data line per event. */
export function readMessageStream(stream: string): MessageSaid {
  let message: Json = {};
  const usage: Json = {};
  const blocks: Json[] = [];
  for (const line of stream.split('\n').filter((one) => one.startsWith('data:'))) {
    const event = JSON.parse(line.slice(5)) as Json;
    const index = event.index as number;
    if (event.type === 'message_start') {
      message = event.message as Json;
      Object.assign(usage, message.usage);
    }
    if (event.type === 'content_block_start') blocks[index] = { ...(event.content_block as Json) };
    if (event.type === 'content_block_delta') addDelta(blocks[index] as Json, event.delta as Json);
    if (event.type === 'message_delta') {
      message = { ...message, ...(event.delta as Json) };
      Object.assign(usage, event.usage);
    }
  }
  for (const block of blocks) if (typeof block.json === 'string') block.input = JSON.parse(block.json || '{}');
  return readMessage({ ...message, content: blocks, usage });
}

function addDelta(block: Json, delta: Json): void {
  const add = (key: string, more: unknown) => {
    block[key] = ((block[key] as string | undefined) ?? '') + (more as string);
  };
  if (delta.type === 'text_delta') add('text', delta.text);
  if (delta.type === 'thinking_delta') add('thinking', delta.thinking);
  if (delta.type === 'signature_delta') add('signature', delta.signature);
  if (delta.type === 'input_json_delta') add('json', delta.partial_json);
  if (delta.type === 'citations_delta') block.citations = [...((block.citations as Json[]) ?? []), delta.citation];
}

/** A chat completion of ours in the same terms. `finish` and usage are looked at in ours. */
export function readResult(result: Json): MessageSaid {
  const [choice] = result.choices as Json[];
  return readOurs(choice?.message as Json, choice as Json, result.usage as Json | undefined);
}

/** A stream of chunks of ours in the same terms, and the last choice's end. */
export function readChunks(payloads: readonly string[]): MessageSaid {
  const message: Json = { content: '', reasoning: '', reasoning_details: [], annotations: [], tool_calls: [] };
  let end: Json = {};
  let usage: Json | undefined;
  for (const payload of payloads) {
    if (payload === '[DONE]') continue;
    const chunk = JSON.parse(payload) as Json;
    usage = (chunk.usage as Json | undefined) ?? usage;
    for (const choice of chunk.choices as Json[]) {
      const delta = choice.delta as Json;
      for (const key of ['content', 'reasoning', 'refusal'])
        if (delta[key]) message[key] = `${message[key] ?? ''}${delta[key]}`;
      for (const key of ['reasoning_details', 'annotations'])
        (message[key] as unknown[]).push(...((delta[key] as unknown[] | undefined) ?? []));
      for (const part of (delta.tool_calls as Json[] | undefined) ?? []) addCall(message.tool_calls as Json[], part);
      if (choice.finish_reason !== null) end = choice;
    }
  }
  return readOurs(message, end, usage);
}

function addCall(calls: Json[], { index, id, function: called }: Json): void {
  const { name, arguments: text } = called as Json;
  calls[index as number] ??= { id, function: { name, arguments: '' } };
  const whole = calls[index as number]?.function as Json;
  whole.arguments = `${whole.arguments}${text ?? ''}`;
}

function readOurs(message: Json, end: Json, usage: Json | undefined): MessageSaid {
  const details = (usage?.prompt_tokens_details ?? {}) as Json;
  const text = (message.content as string | null) ?? '';
  return {
    text,
    reasoning: (message.reasoning as string | undefined) ?? '',
    thoughts: thoughtsOf((message.reasoning_details as Json[] | undefined) ?? []),
    calls: ((message.tool_calls as Json[] | undefined) ?? []).map(({ id, function: called }) => ({
      id: id as string,
      name: (called as Json).name as string,
      input: JSON.parse((called as Json).arguments as string),
    })),
    citations: ((message.annotations as Json[] | undefined) ?? []).map((one) => citationOf(one, text)),
    stop: (end.native_finish_reason as string | undefined) ?? null,
    refusal: (message.refusal as string | null | undefined) ?? null,
    tokens: usage
      ? {
          prompt: usage.prompt_tokens as number,
          cached: (details.cached_tokens as number | undefined) ?? 0,
          written: (details.cache_write_tokens as number | undefined) ?? 0,
          completion: usage.completion_tokens as number,
          thinking: ((usage.completion_tokens_details as Json | undefined)?.reasoning_tokens as number) ?? null,
        }
      : null,
  };
}

/** Details of one block have one index. */
function thoughtsOf(details: readonly Json[]): Json[] {
  return [...Map.groupBy(details, ({ index }) => index).values()].map((parts) =>
    parts[0]?.type === 'reasoning.encrypted'
      ? { type: 'redacted_thinking', data: parts[0].data }
      : {
          type: 'thinking',
          thinking: parts.map((part) => part.text ?? '').join(''),
          signature: parts.map((part) => part.signature ?? '').join(''),
        },
  );
}

function citationOf({ url_citation: cited, file }: Json, text: string): [string, string, string] {
  if (file) {
    const { name, content } = file as { name: string; content: { text: string }[] };
    return [name, content[0]?.text ?? '', ''];
  }
  const {
    url,
    content,
    start_index: start,
    end_index: end,
  } = cited as {
    url: string;
    content: string;
    start_index: number;
    end_index: number;
  };
  return [url, content, text.slice(start, end)];
}
