import { isObject, type Loose } from '../../base/values.ts';
import { notesOf } from './notes.ts';
import type { CallFinish, CallUsage, CallWarning, JsonFields, Notes } from './types.ts';

const words: ReadonlyMap<unknown, CallFinish['unified']> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['error', 'error'],
]);

/** Makes the end of a response. A refusal is no answer to what was asked: it counts as filtered. */
export function finishOf(reason: unknown, native: unknown, hasRefused: boolean): CallFinish {
  const raw = [native, reason].find((one) => typeof one === 'string') as string | undefined;
  const unified = words.get(reason) ?? 'other';
  return { unified: hasRefused && unified === 'stop' ? 'content-filter' : unified, raw };
}

/** Makes the usage of a response. @param usage  as the gateway reports it */
export function usageOf(usage: unknown): CallUsage {
  const counted = isObject(usage) ? usage : {};
  const prompt = isObject(counted.prompt_tokens_details) ? counted.prompt_tokens_details : {};
  const completion = isObject(counted.completion_tokens_details) ? counted.completion_tokens_details : {};
  const [input, output] = [number(counted.prompt_tokens), number(counted.completion_tokens)];
  const [read, written] = [number(prompt.cached_tokens), number(prompt.cache_write_tokens)];
  const reasoning = number(completion.reasoning_tokens);
  return {
    inputTokens: {
      total: input,
      noCache: input === undefined ? undefined : Math.max(input - (read ?? 0) - (written ?? 0), 0),
      cacheRead: read,
      cacheWrite: written,
    },
    outputTokens: {
      total: output,
      text: output === undefined ? undefined : Math.max(output - (reasoning ?? 0), 0),
      reasoning,
    },
    ...(isObject(usage) ? { raw: usage as JsonFields } : {}),
  };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The header that names the fields of the request that had no effect. */
const droppedHeader = 'x-service-dropped';

/**
 * Collects what a result or the chunks of a stream say beside the message.
 * @param headers       of the response
 * @param routingField  names the routing of the request, which is there if it was asked for
 */
export function factsOf(headers: Readonly<Record<string, string>>, routingField: string) {
  const facts: Loose = {};
  let usage: unknown;
  const dropped = (headers[droppedHeader] ?? '').split(', ').filter((name) => name !== '');
  const warned: string[] = [];
  return {
    add(body: Loose): void {
      if (isObject(body.usage)) usage = body.usage;
      note('generationId', body.id);
      note('provider', body.provider);
      note('serviceTier', body.service_tier);
      note('systemFingerprint', body.system_fingerprint);
      note('routing', body[routingField]);
      if (Array.isArray(body.warnings))
        for (const text of body.warnings) if (typeof text === 'string') warned.push(text);
      const choice = Array.isArray(body.choices) ? body.choices[0] : null;
      if (isObject(choice) && isObject(choice.logprobs)) addLogprobs(choice.logprobs);
    },
    usage: (): CallUsage => usageOf(usage),
    /** Takes the usage of a response that broke off. */
    setUsage(value: unknown): void {
      usage ??= value;
    },
    notes(): Notes {
      const { cost, is_byok: isByok } = isObject(usage) ? usage : {};
      return notesOf({ ...facts, cost, isByok }) ?? {};
    },
    /** Returns what of the request had no effect, and what the model itself warns of. */
    warnings: (): CallWarning[] => [
      ...dropped.map(
        (feature): CallWarning => ({
          type: 'unsupported',
          feature,
          details: 'It had no effect: the provider that served did not get it',
        }),
      ),
      ...warned.map((message): CallWarning => ({ type: 'other', message })),
    ],
  };

  function note(name: string, value: unknown): void {
    if (value !== undefined && value !== null) facts[name] = value;
  }

  function addLogprobs({ content }: Loose): void {
    if (!Array.isArray(content)) return;
    const known = Array.isArray(facts.logprobs) ? facts.logprobs : [];
    for (const one of content) known.push(one);
    facts.logprobs = known;
  }
}
