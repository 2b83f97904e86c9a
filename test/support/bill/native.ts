import type { Draw } from './world.ts';

// How a provider of each dialect reads a request and reports what it has used. Written from the providers' own pages,
// without a look at what the gateway holds.

type Body = Record<string, unknown>;

/** What was used, of which each token is billed once. */
export interface Used {
  plain: number;
  cached: number;
  written: number;
  writtenForHour: number;
  output: number;
  /** Searches of the web by the provider itself. */
  searches: number;
}

export interface NativeProvider {
  /** The largest output that a body allows, all choices together; null: it says nothing. */
  mostOutput(body: Body): number | null;
  /**
   * How often a body lets the provider search the web, and whether it does so in turns: each reads the prompt, what was
   * written and all that was found before. Absent: it does not search.
   */
  searching?(body: Body): { most: number; inTurns: boolean };
  /** A complete response that reports what was used. */
  respond(used: Used): object;
}

const inside = (body: Body, name: string): Body => (body[name] ?? {}) as Body;
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const times = (value: unknown, most: number | null) => (most === null ? null : (number(value) ?? 1) * most);
const toolOf = (body: Body, type: string): Body =>
  ((body.tools ?? []) as Body[]).find((tool) => tool.type === type) ?? {};
const hasTool = (body: Body, type: string) => toolOf(body, type).type === type;
const promptOf = ({ plain, cached, written, writtenForHour }: Used) => plain + cached + written + writtenForHour;

export const nativeProviders: Readonly<Record<string, NativeProvider>> = {
  'openai-chat': {
    mostOutput: (body) => times(body.n, number(body.max_completion_tokens ?? body.max_tokens)),
    respond: (used) => ({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: promptOf(used),
        completion_tokens: used.output,
        prompt_tokens_details: {
          cached_tokens: used.cached,
          cache_write_tokens: used.written,
        },
      },
    }),
  },
  'openai-responses': {
    mostOutput: (body) => number(body.max_output_tokens),
    // Without a most, as often as the model likes.
    searching: (body) => ({
      most: hasTool(body, 'web_search') ? (number(body.max_tool_calls) ?? 20) : 0,
      inTurns: true,
    }),
    respond: (used) => ({
      status: 'completed',
      output: [
        ...Array.from({ length: used.searches }, (_, at) => ({
          type: 'web_search_call',
          id: `ws_${at}`,
          status: 'completed',
          action: { type: 'search', query: 'weather' },
        })),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      ],
      usage: {
        input_tokens: promptOf(used),
        output_tokens: used.output,
        input_tokens_details: {
          cached_tokens: used.cached,
          cache_write_tokens: used.written,
        },
      },
    }),
  },
  'anthropic-messages': {
    mostOutput: (body) => Math.max(number(body.max_tokens) ?? 0, number(inside(body, 'thinking').budget_tokens) ?? 0),
    searching: (body) => ({
      most: hasTool(body, 'web_search_20250305') ? (number(toolOf(body, 'web_search_20250305').max_uses) ?? 20) : 0,
      inTurns: true,
    }),
    respond: ({ plain, cached, written, writtenForHour, output, searches }) => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: plain,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: written + writtenForHour,
        cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenForHour },
        output_tokens: output,
        ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
      },
    }),
  },
  'google-generate-content': {
    mostOutput(body) {
      const config = inside(body, 'generationConfig');
      const most = number(config.maxOutputTokens);
      return times(config.candidateCount, most);
    },
    // What it reads of the pages is not charged.
    searching: (body) => ({
      most: (body.tools as Body[] | undefined)?.some(({ googleSearch }) => googleSearch !== undefined) ? 10 : 0,
      inTurns: false,
    }),
    // It writes to no cache by itself, and counts thoughts apart.
    respond: (used) => ({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Hi' }] },
          finishReason: 'STOP',
          ...(used.searches > 0
            ? {
                groundingMetadata: {
                  webSearchQueries: Array.from({ length: used.searches }, (_, at) => `weather ${at}`),
                },
              }
            : {}),
        },
      ],
      usageMetadata: {
        promptTokenCount: promptOf(used),
        cachedContentTokenCount: used.cached,
        candidatesTokenCount: Math.ceil(used.output / 2),
        thoughtsTokenCount: Math.floor(used.output / 2),
      },
    }),
  },
  'bedrock-converse': {
    mostOutput(body) {
      const fields = inside(body, 'additionalModelRequestFields');
      const own = ['max_tokens', 'max_completion_tokens', 'max_gen_len', 'maxTokens'].map((name) =>
        number(fields[name]),
      );
      const most = number(inside(body, 'inferenceConfig').maxTokens);
      const budget = number(inside(fields, 'thinking').budget_tokens);
      const all = [most, budget, ...own].filter((one) => one !== null);
      return most === null ? null : Math.max(...all);
    },
    respond: ({ plain, cached, written, writtenForHour, output }) => ({
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage: {
        inputTokens: plain,
        outputTokens: output,
        cacheReadInputTokens: cached,
        cacheWriteInputTokens: written + writtenForHour,
        cacheDetails: [{ ttl: '1h', inputTokens: writtenForHour }],
      },
    }),
  },
  'cohere-chat': {
    mostOutput: (body) => number(body.max_tokens),
    respond: (used) => ({
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      finish_reason: 'COMPLETE',
      usage: { billed_units: { input_tokens: promptOf(used), output_tokens: used.output }, cached_tokens: used.cached },
    }),
  },
};

/** Those that say which tokens were written to a cache. */
const tellsWrites: readonly string[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'bedrock-converse'];

/** Those that say for how long. */
const tellsHours: readonly string[] = ['anthropic-messages', 'bedrock-converse'];

/** The prompt as a tokenizer of bytes counts it: all texts of the body, whatever they are for. */
export function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + textBytes(one), 0);
}

/** Tokens of the pages that one search finds. */
const tokensOfPages = 15_000;

/** The tokens of all turns of a request with so many searches. */
export function promptOfTurns(prompt: number, output: number, searches: number): number {
  return prompt * (searches + 1) + output * searches + (tokensOfPages * searches * (searches + 1)) / 2;
}

/** Splits a prompt among what is read from a cache, written to one, and neither. */
export function drawUsed(draw: Draw, prompt: number, output: number, dialect: string, searches = 0): Used {
  const share = () => (draw.isTrue(0.5) ? draw.upTo(Math.floor(prompt / 4)) : 0);
  const [cached, written, writtenForHour] = [share(), share(), share()];
  if (!tellsWrites.includes(dialect))
    return { plain: prompt - cached, cached, written: 0, writtenForHour: 0, output, searches };
  const forHour = tellsHours.includes(dialect) ? writtenForHour : 0;
  return { plain: prompt - cached - written - forHour, cached, written, writtenForHour: forHour, output, searches };
}
