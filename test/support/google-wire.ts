/** What a response of Google says, read without the dialect. */
export interface GoogleSaid {
  text: string;
  thoughts: string;
  /** In the order in which they came. */
  signatures: string[];
  calls: { id: string | null; name: string; args: unknown }[];
  finish: string | null;
  /** Of the last event that has any. */
  usage: { prompt: number; completion: number; cached: number; reasoning: number } | null;
  /** Address and cited text of each source. */
  cited: { url: string; title: string; text: string | null }[];
  logprobs: { token: string; logprob: number; top: string[] }[];
}

type Json = Record<string, unknown>;

/** Payloads of a stream whose events end with CRLF or LF, one data line each. */
export function googlePayloads(stream: string): string[] {
  return stream
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
}

/** Reads one response, or the events of a stream, of one candidate. */
export function readGoogle(payloads: readonly string[]): GoogleSaid {
  const said: GoogleSaid = {
    text: '',
    thoughts: '',
    signatures: [],
    calls: [],
    finish: null,
    usage: null,
    cited: [],
    logprobs: [],
  };
  for (const payload of payloads) {
    const event = JSON.parse(payload) as Json;
    readUsage(said, event.usageMetadata as Json | undefined);
    for (const candidate of (event.candidates ?? []) as Json[]) {
      const { parts = [] } = (candidate.content ?? {}) as { parts?: Json[] };
      for (const part of parts) readPart(said, part);
      if (candidate.finishReason !== undefined) said.finish = String(candidate.finishReason);
      readSources(said, (candidate.groundingMetadata ?? {}) as Json);
      readLogprobs(said, (candidate.logprobsResult ?? {}) as Json);
    }
  }
  return said;
}

function readPart(said: GoogleSaid, part: Json): void {
  if (typeof part.thoughtSignature === 'string') said.signatures.push(part.thoughtSignature);
  if (typeof part.text === 'string') {
    if (part.thought === true) said.thoughts += part.text;
    else said.text += part.text;
  }
  const call = part.functionCall as Json | undefined;
  if (call === undefined) return;
  if (typeof call.name === 'string')
    said.calls.push({ id: (call.id as string) ?? null, name: call.name, args: call.args ?? {} });
  const open = said.calls.at(-1) as { args: unknown };
  for (const piece of (call.partialArgs ?? []) as Json[]) {
    // The recordings hold texts only. A template of JSON is enough to find their place.
    const keys = String(piece.jsonPath)
      .replace(/^\$\.?/, '')
      .split(/[.[\]]+/)
      .filter(Boolean);
    open.args = withText(open.args, keys, piece.stringValue as string);
  }
}

function withText(value: unknown, [key, ...others]: string[], text: string): unknown {
  if (key === undefined) return `${(value as string | undefined) ?? ''}${text}`;
  const copy = /^\d+$/.test(key) ? [...((value ?? []) as unknown[])] : { ...((value ?? {}) as Json) };
  (copy as Json)[key] = withText((copy as Json)[key], others, text);
  return copy;
}

function readUsage(said: GoogleSaid, usage: Json | undefined): void {
  if (typeof usage?.promptTokenCount !== 'number') return;
  const number = (key: string) => (usage[key] as number | undefined) ?? 0;
  said.usage = {
    prompt: number('promptTokenCount') + number('toolUsePromptTokenCount'),
    completion: number('totalTokenCount') - number('promptTokenCount') - number('toolUsePromptTokenCount'),
    cached: number('cachedContentTokenCount'),
    reasoning: number('thoughtsTokenCount'),
  };
}

function readSources(said: GoogleSaid, { groundingChunks = [], groundingSupports = [] }: Json): void {
  const chunks = groundingChunks as { web: { uri: string; title: string } }[];
  const used = new Set<number>();
  for (const support of groundingSupports as { segment: { text: string }; groundingChunkIndices: number[] }[]) {
    for (const at of support.groundingChunkIndices) {
      used.add(at);
      const { uri, title } = (chunks[at] as (typeof chunks)[number]).web;
      said.cited.push({ url: uri, title, text: support.segment.text });
    }
  }
  chunks.forEach(({ web }, at) => {
    if (!used.has(at)) said.cited.push({ url: web.uri, title: web.title, text: null });
  });
}

function readLogprobs(said: GoogleSaid, { chosenCandidates = [], topCandidates = [] }: Json): void {
  const tops = topCandidates as { candidates: { token: string }[] }[];
  (chosenCandidates as { token: string; logProbability: number }[]).forEach(({ token, logProbability }, at) => {
    said.logprobs.push({ token, logprob: logProbability, top: (tops[at]?.candidates ?? []).map((one) => one.token) });
  });
}

/** The same of our wire: of a complete response, or of the chunks of a stream. */
export function readOurs(choices: readonly Json[], usage: Json | null): GoogleSaid & { details: Json[] } {
  const said = { ...readGoogle([]), details: [] as Json[] };
  const notes: { url: string; title: string; start_index: number; end_index: number }[] = [];
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const choice of choices) {
    const from = (choice.delta ?? choice.message) as Json;
    said.text += (from.content as string | null | undefined) ?? '';
    said.thoughts += (from.reasoning as string | null | undefined) ?? '';
    said.details.push(...((from.reasoning_details ?? []) as Json[]));
    for (const { url_citation } of (from.annotations ?? []) as { url_citation: (typeof notes)[number] }[])
      notes.push(url_citation);
    ((from.tool_calls ?? []) as Json[]).forEach((call, at) => {
      const { name = '', arguments: text = '' } = call.function as { name?: string; arguments?: string };
      const index = (call.index as number | undefined) ?? at;
      calls[index] ??= { id: call.id as string, name: '', arguments: '' };
      const known = calls[index];
      known.name += name;
      known.arguments += text;
    });
    if (typeof choice.native_finish_reason === 'string') said.finish = choice.native_finish_reason;
    for (const one of ((choice.logprobs as Json | null | undefined)?.content ?? []) as Json[])
      said.logprobs.push({
        token: one.token as string,
        logprob: one.logprob as number,
        top: (one.top_logprobs as { token: string }[]).map(({ token }) => token),
      });
  }
  said.signatures = said.details.map((one) => (one.signature ?? one.data) as string).filter(Boolean);
  said.calls = calls.map(({ id, name, arguments: text }) => ({ id, name, args: JSON.parse(text) }));
  said.cited = notes.map(({ url, title, start_index: start, end_index: end }) => ({
    url,
    title,
    text: end === 0 ? null : said.text.slice(start, end),
  }));
  if (usage !== null)
    said.usage = {
      prompt: usage.prompt_tokens as number,
      completion: usage.completion_tokens as number,
      cached: (usage.prompt_tokens_details as Json).cached_tokens as number,
      reasoning: (usage.completion_tokens_details as Json).reasoning_tokens as number,
    };
  return said;
}
