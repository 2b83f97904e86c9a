import { expect } from 'vitest';

type Json = Record<string, unknown>;

/** What an answer says to a client, in chat completions or in Messages. */
export interface SaidInTurn {
  text: string;
  thinking: string;
  calls: { id: unknown; name: unknown; input: unknown }[];
  /** Why it ended, in the words of Messages. */
  stop: unknown;
  usage: { prompt: number; cached: number; output: number };
}

const list = (value: unknown) => (Array.isArray(value) ? value : []) as Json[];
const count = (value: unknown) => (typeof value === 'number' ? value : 0);

/** Reads a message: complete, or joined from its events. */
export function saidInMessage({ content, stop_reason: stop, usage }: Json): SaidInTurn {
  const blocks = list(content);
  const of = (type: string) => blocks.filter((block) => block.type === type);
  const { input_tokens: read, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = usage as Json;
  const cached = count(cache_read_input_tokens);
  return {
    text: of('text')
      .map(({ text }) => text)
      .join(''),
    thinking: of('thinking')
      .map(({ thinking }) => thinking)
      .join(''),
    calls: of('tool_use').map(({ id, name, input }) => ({ id, name, input })),
    stop,
    usage: { prompt: count(read) + cached + count(cache_creation_input_tokens), cached, output: count(output_tokens) },
  };
}

/**
 * Joins the events of a stream into the message that they are, and checks them as a strict client does: one beginning, one
 * block open at a time, indexes without gaps, nothing behind the end.
 * @returns error: the error that ends the stream; null: it is complete
 */
export function joinMessage(stream: string): { message: Json; error: Json | null } {
  const frames = [...stream.matchAll(/event: (.*)\n((?:data: .*\n)+)\n/g)];
  expect(frames.map(([frame]) => frame).join('')).toBe(stream);
  let message: Json | null = null;
  let error: Json | null = null;
  let open: Json | null = null;
  let input = '';
  let isOver = false;
  const content: Json[] = [];
  for (const [, name, lines = ''] of frames) {
    const event = JSON.parse(lines.replace(/^data: /gm, '')) as Json;
    expect([isOver, error, event.type]).toEqual([false, null, name]);
    const delta = (event.delta ?? {}) as Json;
    if (name === 'message_start') {
      expect(message).toBeNull();
      message = event.message as Json;
    } else if (name === 'content_block_start') {
      expect([open, event.index]).toEqual([null, content.length]);
      open = { ...(event.content_block as Json) };
      input = '';
      content.push(open);
    } else if (name === 'content_block_delta') {
      const block = open as unknown as Json;
      expect(event.index).toBe(content.length - 1);
      if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`;
      else if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`;
      else if (delta.type === 'signature_delta') block.signature = delta.signature;
      else if (delta.type === 'input_json_delta') input += delta.partial_json;
    } else if (name === 'content_block_stop') {
      if (input !== '') (open as unknown as Json).input = inputOf(input);
      open = null;
    } else if (name === 'message_delta') {
      expect(open).toBeNull();
      const known = (message as unknown as Json).usage as Json;
      const told = Object.entries(event.usage as Json).filter(([, value]) => value !== null);
      message = { ...(message as unknown as Json), ...delta, usage: { ...known, ...Object.fromEntries(told) } };
    } else if (name === 'message_stop') isOver = true;
    else if (name === 'error') error = event.error as Json;
  }
  expect(isOver).toBe(error === null);
  return { message: { ...(message as unknown as Json), content }, error };
}

const stops: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Reads a chat completion of ours: its first choice. */
export function saidInCompletion(body: Json): SaidInTurn {
  const choice = list(body.choices).find(({ index }) => index === 0) as Json;
  const message = choice.message as Json;
  const details = list(message.reasoning_details);
  const calls = list(message.tool_calls);
  const usage = body.usage as Json;
  const content = message.content ?? '';
  const reason = String(choice.finish_reason);
  return {
    text: `${
      typeof content === 'string'
        ? content
        : list(content)
            .map(({ text }) => text ?? '')
            .join('')
    }${message.refusal ?? ''}`,
    thinking:
      details.map(({ text, summary }) => text ?? summary ?? '').join('') || ((message.reasoning ?? '') as string),
    calls: calls.map(({ id, function: called }) => ({
      id,
      name: (called as Json).name,
      input: inputOf((called as Json).arguments as string),
    })),
    // The reason and the blocks must say the same.
    stop: calls.length > 0 && reason === 'stop' ? 'tool_use' : stops[reason],
    usage: {
      prompt: count(usage.prompt_tokens),
      cached: count((usage.prompt_tokens_details as Json | undefined)?.cached_tokens),
      output: count(usage.completion_tokens),
    },
  };
}

/** Input that is no object has another form in Messages: it is compared by nothing but that it is there. */
function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : 'no object';
  } catch {
    return 'no object';
  }
}
