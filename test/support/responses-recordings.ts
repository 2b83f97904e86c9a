import { payloadsOf } from './recordings.ts';

type Json = Record<string, unknown>;

/** What an answer says, whoever wrote it and however it came. */
export interface SaidOnce {
  content: string;
  refusal: string;
  /** What the model thought. */
  reasoning: string;
  /** Each thought by itself, and what only the provider can read. */
  details: { text: string; encrypted: boolean }[];
  calls: { id: string; name: string; arguments: string }[];
  citations: Json[];
  finish: string | null;
  native: string | null;
  tier: string | null;
  usage: Json | null;
  searches: number;
}

const list = (value: unknown) => (Array.isArray(value) ? value : []) as Json[];
const gap = '\n\n';

/** Reads a response as its provider wrote it. It knows the wire format by itself, so that it can judge ours. */
export function readResponse(body: Json): SaidOnce {
  const output = list(body.output);
  const of = (type: string) => output.filter((item) => item.type === type);
  const messages = of('message').map((item) => list(item.content));
  const thoughts = of('reasoning').flatMap((item) => [
    ...list(item.summary).map(({ text }) => ({ text: text as string, encrypted: false })),
    ...list(item.content).map(({ text }) => ({ text: text as string, encrypted: false })),
    ...(item.encrypted_content ? [{ text: item.encrypted_content as string, encrypted: true }] : []),
  ]);
  const calls = of('function_call').map((item) => ({
    id: item.call_id as string,
    name: item.name as string,
    arguments: item.arguments as string,
  }));
  const texts = messages.map((parts) => parts.map(({ text }) => text ?? '').join(''));
  const usage = body.usage as Json;
  return {
    content: texts.filter(Boolean).join(gap),
    refusal: messages.flatMap((parts) => parts.map(({ refusal }) => refusal ?? '')).join(''),
    reasoning: thoughts
      .filter(({ text, encrypted }) => !encrypted && text !== '')
      .map(({ text }) => text)
      .join(gap),
    details: thoughts.filter(({ text }) => text !== ''),
    calls,
    citations: messages
      .flat()
      .flatMap(({ annotations }) => list(annotations))
      .filter(({ type }) => type === 'url_citation')
      .map(({ url, title, start_index, end_index }) => ({ url, title, start_index, end_index })),
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    native: body.status as string,
    tier: (body.service_tier as string | undefined) ?? null,
    usage: {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      total: usage.total_tokens,
      cached: (usage.input_tokens_details as Json).cached_tokens,
      reasoning: (usage.output_tokens_details as Json).reasoning_tokens,
    },
    searches: of('web_search_call').filter(({ action }) => (action as Json | undefined)?.type === 'search').length,
  };
}

/**
 * Reads a stream as its provider wrote it: from the event that completes each item, and from the one that completes the
 * response. The two differ in nothing but what is encrypted, which is encrypted anew each time.
 */
export function readResponseStream(stream: string): SaidOnce {
  const events = payloadsOf(stream).map((payload) => JSON.parse(payload) as Json);
  const { response } = events.findLast(({ type }) => type === 'response.completed') as { response: Json };
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  const atEnd = readResponse(response);
  const { details } = readResponse({ ...response, output: done.map(({ item }) => item) });
  const open = (one: SaidOnce['details']) => one.filter(({ encrypted }) => !encrypted);
  if (JSON.stringify(open(details)) !== JSON.stringify(open(atEnd.details))) throw new Error('The stream differs');
  return { ...atEnd, details };
}

/** Reads a chat completion of ours. */
export function readOurs(body: Json): SaidOnce {
  const choice = list(body.choices)[0] as Json;
  return saidBy(choice.message as Json, choice, body);
}

/** Reads a stream of ours. */
export function readOurStream(stream: string): SaidOnce {
  const message: Json = {};
  const end: Json = {};
  const calls: Json[] = [];
  for (const payload of payloadsOf(stream).filter((one) => one !== '[DONE]')) {
    const { choices, usage, error, service_tier: tier } = JSON.parse(payload) as Json;
    if (error) throw new Error(JSON.stringify(error));
    if (usage) end.usage = usage;
    if (tier) end.service_tier = tier;
    for (const { delta, finish_reason: finish, native_finish_reason: native } of list(choices)) {
      const { content, refusal, reasoning, reasoning_details: details, annotations, tool_calls } = delta as Json;
      for (const [name, more] of Object.entries({ content, refusal, reasoning }))
        message[name] = ((message[name] as string | undefined) ?? '') + (more ?? '');
      for (const [name, more] of Object.entries({ reasoning_details: details, annotations }))
        message[name] = [...list(message[name]), ...list(more)];
      for (const { index, id, function: called } of list(tool_calls)) {
        const fragment = called as Json;
        calls[index as number] ??= { id, function: { name: fragment.name, arguments: '' } };
        const known = (calls[index as number] as Json).function as Json;
        known.arguments = `${known.arguments}${fragment.arguments ?? ''}`;
      }
      if (finish) Object.assign(end, { finish_reason: finish, native_finish_reason: native });
    }
  }
  return saidBy({ ...message, tool_calls: calls }, end, end);
}

function saidBy(message: Json, choice: Json, body: Json): SaidOnce {
  const usage = body.usage as Json;
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage as Record<string, Json>;
  return {
    content: (message.content as string | null) ?? '',
    refusal: (message.refusal as string | null) ?? '',
    reasoning: (message.reasoning as string | undefined) ?? '',
    details: detailsOf(list(message.reasoning_details)),
    calls: list(message.tool_calls).map((call) => ({
      id: call.id as string,
      name: (call.function as Json).name as string,
      arguments: (call.function as Json).arguments as string,
    })),
    citations: list(message.annotations).map(({ url_citation: citation }) => citation as Json),
    finish: choice.finish_reason as string,
    native: choice.native_finish_reason as string,
    tier: (body.service_tier as string | undefined) ?? null,
    usage: {
      prompt: usage.prompt_tokens,
      completion: usage.completion_tokens,
      total: usage.total_tokens,
      cached: read?.cached_tokens,
      reasoning: written?.reasoning_tokens,
    },
    searches: ((usage.server_tool_use_details as Json | undefined)?.web_search_requests as number | undefined) ?? 0,
  };
}

/** The fragments of one detail have one index. */
function detailsOf(fragments: readonly Json[]): SaidOnce['details'] {
  const byIndex = new Map<unknown, { text: string; encrypted: boolean }>();
  for (const { index, summary, text, data } of fragments) {
    const known = byIndex.get(index) ?? { text: '', encrypted: data !== undefined };
    known.text += (summary ?? text ?? data) as string;
    byIndex.set(index, known);
  }
  return [...byIndex.values()];
}
