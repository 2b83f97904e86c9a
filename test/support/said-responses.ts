import { expect } from 'vitest';
import type { Loose } from './check-responses.ts';

type Json = Record<string, unknown>;

interface SaidCall {
  id: string;
  name: string;
  arguments: string;
}

/** What an answer says to a client, in whichever of the two formats. */
export interface SaidByEither {
  text: string;
  refusal: string;
  reasoning: string;
  calls: SaidCall[];
  /** `cited`: the characters that the citation is about; null: of no particular place. */
  citations: { url: unknown; title: unknown; cited: string | null }[];
  files: unknown[];
  /** URLs of images, or their base64 data. */
  images: string[];
  logprobs: { token: unknown; logprob: unknown }[];
  status: string;
  why: string | null;
  usage: Json;
}

const list = (value: unknown) => (Array.isArray(value) ? value : []) as Json[];
const sum = (texts: unknown[]) => texts.map((text) => text ?? '').join('');

/** Reads a chat completion of ours: its first choice, because a response has no other. */
export function saidInChat(body: Json): SaidByEither {
  const choice = list(body.choices).find(({ index }) => index === 0) as Json;
  const message = choice.message as Json;
  const content = message.content ?? '';
  const text = typeof content === 'string' ? content : sum(list(content).map((part) => part.text));
  const annotations = list(message.annotations);
  const usage = body.usage as Json;
  return {
    text,
    refusal: (message.refusal as string | null | undefined) ?? '',
    reasoning: reasoningInChat(message),
    calls: list(message.tool_calls).map(({ id, function: called }) => ({ id, ...(called as object) }) as SaidCall),
    citations: annotations
      .filter(({ type }) => type === 'url_citation')
      .map(({ url_citation: citation }) => citationOf(citation as Json, text)),
    files: annotations.filter(({ type }) => type === 'file').map(({ file }) => (file as Json).hash),
    images: list(message.images).map(({ image_url: image }) => dataOf((image as Json).url as string)),
    logprobs: list((choice.logprobs as Json | null | undefined)?.content).map(logprobOf),
    ...endOf(choice.finish_reason),
    usage: usageOf(usage, 'prompt', 'completion'),
  };
}

/** Joins the chunks of a stream of ours into the chat completion that they are: its first choice. */
export function joinChat(chunks: readonly Json[]): Json {
  const message: Json = {};
  const calls: Json[] = [];
  const logprobs: Json[] = [];
  let finish: unknown = null;
  for (const { index, delta, ...choice } of chunks.flatMap(({ choices }) => list(choices))) {
    if (index !== 0) continue;
    for (const [name, more] of Object.entries(delta as Json)) {
      const known = message[name];
      if (name === 'tool_calls') for (const call of list(more)) joinCall(calls, call);
      else message[name] = Array.isArray(more) ? [...list(known), ...more] : `${known ?? ''}${more ?? ''}`;
    }
    logprobs.push(...list((choice.logprobs as Json | null | undefined)?.content));
    finish ??= choice.finish_reason;
  }
  // Some upstreams count their calls from one.
  const choice = {
    index: 0,
    message: { ...message, role: 'assistant', tool_calls: calls.filter(Boolean) },
    logprobs: { content: logprobs },
  };
  return { choices: [{ ...choice, finish_reason: finish }], usage: chunks.findLast(({ usage }) => usage)?.usage };
}

function joinCall(calls: Json[], { index, id, function: called }: Json): void {
  const { name, arguments: text } = (called ?? {}) as Json;
  calls[index as number] ??= { id, type: 'function', function: { name, arguments: '' } };
  const known = (calls[index as number] as Json).function as Json;
  known.arguments = `${known.arguments}${text ?? ''}`;
}

/**
 * Readable details have the text of `reasoning` without what a dialect puts between thoughts; where there are none,
 * `reasoning` has the text alone.
 */
function reasoningInChat(message: Json): string {
  const reasoning = (message.reasoning as string | null | undefined) ?? '';
  const details = sum(list(message.reasoning_details).map(({ text, summary }) => text ?? summary));
  if (details === '') return reasoning;
  const bare = (text: string) => text.replaceAll(/\s/g, '');
  expect(bare(details)).toBe(bare(reasoning));
  return details;
}

/** Reads a response of ours: the object, or the one that ends a stream. */
export function saidInResponse({ output, status, ...body }: Loose): SaidByEither {
  const of = (type: string) => output.filter((item) => item.type === type);
  const parts = of('message').flatMap((item) => item.content);
  const notes = parts.flatMap((part) => list(part.annotations).map((note) => ({ note, text: part.text as string })));
  const types = ['message', 'reasoning', 'function_call', 'image_generation_call'];
  expect(output.filter(({ type }) => !types.includes(type))).toEqual([]);
  return {
    text: sum(parts.map(({ text }) => text)),
    refusal: sum(parts.map(({ refusal }) => refusal)),
    reasoning: sum(
      of('reasoning').flatMap((item) => [...item.summary, ...(item.content ?? [])].map((one) => one.text)),
    ),
    calls: of('function_call').map((item) => ({
      id: item.call_id as string,
      name: item.name as string,
      arguments: item.arguments as string,
    })),
    citations: notes.filter(({ note }) => note.type === 'url_citation').map(({ note, text }) => citationOf(note, text)),
    files: notes.filter(({ note }) => note.type === 'file_citation').map(({ note }) => note.file_id),
    images: of('image_generation_call').map(({ result }) => result as string),
    logprobs: parts.flatMap((part) => list(part.logprobs).map(logprobOf)),
    status,
    why: ((body.incomplete_details as Json | null)?.reason as string | undefined) ?? null,
    usage: usageOf(body.usage as Json, 'input', 'output'),
  };
}

function citationOf({ url, title, start_index: start, end_index: end }: Json, text: string) {
  const isPlaced = typeof start === 'number' && typeof end === 'number' && end > start;
  // Clients demand a title: where a page has none, it is its address.
  return { url, title: title ?? url, cited: isPlaced ? text.slice(start, end) : null };
}

function logprobOf({ token, logprob }: Json) {
  return { token, logprob };
}

/** A data URL's data. */
function dataOf(url: string): string {
  return url.replace(/^data:[^,]*,/, '');
}

const ends: Record<string, { status: string; why: string | null }> = {
  stop: { status: 'completed', why: null },
  tool_calls: { status: 'completed', why: null },
  length: { status: 'incomplete', why: 'max_output_tokens' },
  content_filter: { status: 'incomplete', why: 'content_filter' },
  error: { status: 'failed', why: null },
};

function endOf(finish: unknown) {
  const end = ends[String(finish)];
  expect(end, `finish_reason ${String(finish)}`).toBeDefined();
  return end as { status: string; why: string | null };
}

function usageOf(usage: Json, read: string, written: string): Json {
  const details = (name: string) => (usage[`${name}_tokens_details`] ?? {}) as Json;
  return {
    read: usage[`${read}_tokens`],
    written: usage[`${written}_tokens`],
    total: usage.total_tokens,
    // Clients demand both counts: what is not known is none.
    cached: details(read).cached_tokens ?? 0,
    cacheWrites: details(read).cache_write_tokens ?? null,
    reasoning: details(written).reasoning_tokens ?? 0,
    cost: usage.cost,
    searches: (usage.server_tool_use_details as Json | undefined)?.web_search_requests ?? null,
  };
}
