import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { largestUsage } from '../shared/largest-usage.ts';
import { implausibleSearches, tokenCount } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';
import { besideTotals, countIn, detailNames, usageNames, usagePlaces, writesByLife } from './usage-names.ts';

/**
 * Returns the usage in a response or an event, from every place where a server puts it; the largest of several reports
 * counts.
 */
export function usageIn(body: Loose, choices: readonly unknown[] = []): Usage | null {
  let usage: Usage | null = null;
  for (const place of usagePlaces(body, choices)) {
    const read = readUsage(place);
    if (read !== null) usage = largestUsage(usage, read);
  }
  return usage;
}

/**
 * Reads the usage that a provider reports. Negative, fractional, textual or huge counts are no usage: they never become
 * a cost. Where the total tells which counts include which, it decides; else the larger reading counts.
 * @returns null where prompt or completion tokens are missing or nonsense
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const usual = plainUsage(raw);
  if (usual !== null) return usual;
  const inDetails = detailsIn(raw, detailNames.prompt);
  const outDetails = detailsIn(raw, detailNames.completion);
  const totals = totalsOf(raw, inDetails, outDetails);
  if (totals === null) return null;
  // A part is no more than the total: where it is larger, the total was counted without it.
  const ofOutput = (name: string) => tokenCount(outDetails?.[name]) ?? 0;
  const made = {
    audio_tokens: ofOutput('audio_tokens'),
    image_tokens: ofOutput('image_tokens'),
    accepted_prediction_tokens: ofOutput('accepted_prediction_tokens'),
    rejected_prediction_tokens: ofOutput('rejected_prediction_tokens'),
  };
  const completionTokens = Math.max(totals.completion, ...Object.values(made));
  const ofPrompt = (name: string) => tokenCount(inDetails?.[name]) ?? 0;
  const media = {
    audio_tokens: ofPrompt('audio_tokens'),
    image_tokens: ofPrompt('image_tokens'),
    video_tokens: ofPrompt('video_tokens'),
  };
  const promptTokens = Math.max(totals.prompt, ...Object.values(media));
  return usageOf({
    prompt: promptTokens,
    completion: completionTokens,
    cached: totals.cached,
    written: totals.written.all,
    writtenForHour: totals.written.hour,
    writtenForHalfDay: totals.written.halfDay,
    reasoning: totals.reasoning,
    ofPrompt: media,
    ofCompletion: made,
    searches: searchesIn(raw),
  });
}

/** OpenAI's own names, beside which no other has to be looked for. */
const plain = {
  counts: new Set(['prompt_tokens', 'completion_tokens', 'total_tokens']),
  prompt: new Set(['cached_tokens', 'audio_tokens']),
  completion: new Set(['reasoning_tokens', 'audio_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens']),
} satisfies Record<string, ReadonlySet<string>>;

/**
 * Returns the usage in a report in OpenAI's own names whose total is the sum: nothing stands beside anything. Most
 * reports are so, and all names of all servers take ten times as long.
 * @returns null for any other report
 */
function plainUsage(raw: Loose): Usage | null {
  for (const name in raw)
    if (!plain.counts.has(name) && name !== 'prompt_tokens_details' && name !== 'completion_tokens_details')
      return null;
  const prompt = tokenCount(raw.prompt_tokens);
  const completion = tokenCount(raw.completion_tokens);
  if (prompt === null || completion === null || raw.total_tokens !== prompt + completion) return null;
  const read = partsIn(raw.prompt_tokens_details, plain.prompt, prompt);
  const made = partsIn(raw.completion_tokens_details, plain.completion, completion);
  if (read === null || made === null) return null;
  const { cached_tokens: cached = 0 } = read;
  const { reasoning_tokens: reasoning = 0 } = made;
  return usageOf({ prompt, completion, cached, reasoning, ofPrompt: read, ofCompletion: made });
}

/** @returns null: it holds something else than parts of the whole with these names */
function partsIn(details: unknown, names: ReadonlySet<string>, whole: number): Record<string, number> | null {
  const parts: Record<string, number> = {};
  if (details === undefined || details === null) return parts;
  if (!isObject(details)) return null;
  for (const name in details) {
    const tokens = tokenCount(details[name] ?? 0);
    if (tokens === null || tokens > whole || !names.has(name)) return null;
    parts[name] = tokens;
  }
  return parts;
}

interface Written {
  all: number;
  hour: number;
  halfDay: number;
}

interface Totals {
  prompt: number;
  completion: number;
  cached: number;
  written: Written;
  reasoning: number;
}

/** A count that the prompt or the completion may leave out. */
interface Part {
  of: 'prompt' | 'completion';
  tokens: number;
  /** true: it is left out where there is no total. */
  isBeside: boolean;
  /** true: it is a detail of the prompt that fits into it, and is never left out. */
  isInside?: boolean;
}

/** Returns prompt and completion with all of their parts. */
function totalsOf(raw: Loose, inDetails: Loose | null, outDetails: Loose | null): Totals | null {
  const prompt = countIn(raw, usageNames.prompt);
  const completion = countIn(raw, usageNames.completion);
  if (prompt === null || completion === null) return null;
  const ownCached =
    countIn(inDetails, [...usageNames.cached, ...usageNames.cachedBeside]) ?? countIn(raw, usageNames.cached);
  const cached = ownCached ?? countIn(raw, usageNames.cachedBeside) ?? 0;
  const written = writtenTokens(raw, inDetails);
  const isWrittenBeside =
    (countIn(raw, usageNames.writtenBeside) ?? 0) > 0 && countIn(inDetails, usageNames.written) === null;
  const ownReasoning = countIn(outDetails, usageNames.reasoning) ?? countIn(raw, usageNames.reasoning) ?? 0;
  const citations = tokenCount(raw[besideTotals]);
  const totals = { prompt: prompt + (citations ?? 0), completion, cached, written, reasoning: ownReasoning };
  const isDetail = (names: readonly string[], tokens: number) => countIn(inDetails, names) !== null && tokens <= prompt;
  const parts: Part[] = [
    // Models that reason at length have far more tokens of it than of text.
    { of: 'completion', tokens: ownReasoning, isBeside: true },
    {
      of: 'prompt',
      tokens: cached,
      isBeside: ownCached === null || cached > prompt,
      isInside: isDetail([...usageNames.cached, ...usageNames.cachedBeside], cached),
    },
    {
      of: 'prompt',
      tokens: written.all,
      isBeside: isWrittenBeside || written.all > prompt,
      isInside: isDetail([...usageNames.written, ...usageNames.writtenBeside], written.all),
    },
  ];
  const total = countIn(raw, usageNames.total);
  const missing = total === null ? null : total - prompt - completion;
  const beside = partsBeside(parts, missing);
  for (const { of, tokens } of beside ?? []) totals[of] += tokens;
  // Google counts reasoning only in the total. Tokens without a name are charged as output at the most.
  if (beside === null && missing !== null) {
    totals.completion += missing;
    if (ownReasoning === 0) totals.reasoning = missing;
  }
  // Reasoning that is more than all output, or that comes with other counts beside the totals, is not in it.
  if (
    !beside?.some(({ of }) => of === 'completion') &&
    missing !== null &&
    (ownReasoning > totals.completion || citations !== null)
  )
    totals.completion += ownReasoning;
  return totals;
}

/** @returns the parts that stand beside; null: the total has more than the parts explain */
function partsBeside(parts: readonly Part[], missing: number | null): readonly Part[] | null {
  if (missing === null) return parts.filter(({ isBeside, tokens }) => isBeside && tokens > 0);
  if (missing <= 0) return [];
  // If two sets have the same size, the one that begins with the dearer part counts.
  for (const bits of [1, 2, 4, 3, 5, 6, 7]) {
    const some = parts.filter((_, at) => bits & (1 << at));
    if (
      some.every(({ tokens, isInside }) => tokens > 0 && isInside !== true) &&
      some.reduce((sum, { tokens }) => sum + tokens, 0) === missing
    )
      return some;
  }
  return null;
}

/** The first of the names that holds parts. */
function detailsIn(raw: Loose, names: readonly string[]): Loose | null {
  for (const name of names) if (isObject(raw[name])) return raw[name];
  return null;
}

function objectIn(value: unknown): Loose | null {
  return isObject(value) ? value : null;
}

/** Returns all tokens that were written to a cache, and those of them that are kept for long. */
function writtenTokens(raw: Loose, details: Loose | null): Written {
  const ofLife = (places: readonly (readonly [string, string])[]): number => {
    let most = 0;
    for (const from of [details, raw])
      for (const [place, name] of places) most = Math.max(most, tokenCount(objectIn(from?.[place])?.[name]) ?? 0);
    return most;
  };
  const hour = ofLife(writesByLife.hour);
  const halfDay = ofLife(writesByLife.halfDay);
  let all = hour + halfDay + ofLife(writesByLife.short);
  for (const from of [details, raw])
    for (const name of [...usageNames.written, ...usageNames.writtenBeside])
      all = Math.max(all, tokenCount(from?.[name]) ?? 0);
  return { all, hour, halfDay };
}

/** Returns the searches that the provider ran by itself. It charges each, and nobody else can count them. */
function searchesIn(raw: Loose): number {
  let most = 0;
  for (const place of [raw.server_tool_use_details, raw.server_tool_use])
    most = Math.max(most, plausible(tokenCount(objectIn(place)?.web_search_requests)));
  for (const name of usageNames.searches) most = Math.max(most, plausible(tokenCount(raw[name])));
  return most;
}

function plausible(searches: number | null): number {
  return searches === null || searches > implausibleSearches ? 0 : searches;
}
