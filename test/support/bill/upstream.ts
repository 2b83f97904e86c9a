import { type Clock, wait } from '../../../src/base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/transport/transport.ts';
import { randomFrom } from '../race/random.ts';
import { chunk, completion, errorBody, sse } from '../upstream.ts';
import { askedInResponses, inResponses } from './responses-wire.ts';
import { type Draw, drawFrom, type Prices, type Traits, type World, type WorldEndpoint } from './world.ts';

// Providers that keep a bill of their own. They charge the prompt from the moment the request is there, and each token
// of output when it is generated, whether anybody reads it or not. They charge nothing for a request that they refuse.

/** What one attempt has cost, as the provider sees it. */
export interface BillItem {
  /** Of the client's request. */
  seed: number;
  isByok: boolean;
  nanoUsd: number;
  /** What happened, for the message of a test that fails. */
  story: string;
}

export interface BillingUpstream extends Transport {
  readonly bill: readonly BillItem[];
}

interface Asked {
  model: string;
  stream?: boolean;
  n?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
  messages: { content: string | { type: string; text?: string }[] }[];
  tools?: object[];
}

export const seedMessage = (seed: number) => `seed ${seed}.`;

/** A prompt is never longer than this, and a provider that is not told otherwise writes no more than this. */
const naturalOutput = 300_000;

/** @param seedOfWorld  with it, each of its requests draws what happens to its attempts, however the others go */
export function billingUpstream(
  world: World,
  seedOfWorld: number,
  clock: Clock,
  isByok: (request: TransportRequest) => boolean,
): BillingUpstream {
  const bill: BillItem[] = [];
  const draws = new Map<number, Draw>();

  const upstream: BillingUpstream = {
    bill,
    async send(request): Promise<TransportResponse> {
      const { body, url, signal } = request;
      const sent = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
      const speaksResponses = url.endsWith('/responses');
      const asked: Asked = speaksResponses ? askedInResponses(sent) : sent;
      const provider = new URL(url).host.replace('.test', '').replace('api.groq.com', 'groq');
      const endpoint = endpointOf(world, provider, asked.model);
      const seed = seedOf(asked);
      const draw = draws.get(seed) ?? drawFrom(randomFrom(seedOfWorld * 1_000 + 500 + seed));
      draws.set(seed, draw);
      if (draw.isTrue(0.03)) throw connectionError('ECONNREFUSED');
      // On its way: nobody has read it yet.
      await wait(clock, draw.upTo(50), signal);
      const traits = world.traits[provider] as Traits;
      if (draw.upTo(99) < traits.failures / 2) {
        await wait(clock, draw.upTo(500), signal);
        const status = draw.oneOf([400, 401, 403, 404, 413, 429, 429, 500, 502, 503, 529]);
        return jsonResponse(status, errorBody('No, not now.'));
      }
      const attempt = new Attempt({ endpoint, traits, asked, draw, clock });
      bill.push(
        attempt.item(
          seed,
          isByok(request),
          `${provider} ${attempt.describe()}${speaksResponses ? ', in Responses' : ''}`,
        ),
      );
      const response = asked.stream ? attempt.stream(signal) : await attempt.json(signal);
      return speaksResponses ? inResponses(response) : response;
    },
  };
  return upstream;
}

class Attempt {
  readonly #endpoint: WorldEndpoint;
  readonly #traits: Traits;
  readonly #draw: Draw;
  readonly #clock: Clock;
  readonly #prompt: { tokens: number; images: number };
  readonly #choices: number;
  /** For each choice: hidden reasoning first, then words. */
  readonly #plan: { reasoning: number; words: number };
  #used = { reasoning: 0, words: 0 };
  #isRefused = false;
  readonly #asked: Asked;

  constructor(of: { endpoint: WorldEndpoint; traits: Traits; asked: Asked; draw: Draw; clock: Clock }) {
    this.#endpoint = of.endpoint;
    this.#traits = of.traits;
    this.#draw = of.draw;
    this.#clock = of.clock;
    this.#asked = of.asked;
    this.#prompt = promptOf(of.asked, of.traits, of.endpoint, of.draw);
    this.#choices = of.asked.n ?? 1;
    const { draw, asked, endpoint } = of;
    const told = asked.max_completion_tokens ?? asked.max_tokens ?? Number.POSITIVE_INFINITY;
    const own = Math.min(endpoint.maxCompletionTokens ?? naturalOutput, endpoint.contextLength ?? naturalOutput);
    const most = Math.min(told, own);
    // Often all that it may: that is where a hold that is too small shows.
    const output = draw.isTrue(0.3) ? most : draw.upTo(Math.min(most, 2_000));
    const reasoning = endpoint.supportedParameters.includes('reasoning') ? draw.upTo(output) : 0;
    this.#plan = { reasoning, words: Math.min(output - reasoning, 3_000) };
  }

  describe(): string {
    const { reasoning, words } = this.#plan;
    const { reporting, goesOn } = this.#traits;
    return `${this.#asked.stream ? 'stream' : 'json'} of ${reasoning} + ${words} × ${this.#choices} tokens, reports ${reporting}${goesOn ? ', goes on' : ''}`;
  }

  item(seed: number, isByok: boolean, story: string): BillItem {
    const nanoUsd = () => this.#costNanoUsd();
    return {
      seed,
      isByok,
      story,
      get nanoUsd() {
        return nanoUsd();
      },
    };
  }

  async json(signal: AbortSignal): Promise<TransportResponse> {
    const { reasoning, words } = this.#plan;
    const startMs = this.#clock.now();
    const lasts = (reasoning + words) * this.#traits.tokenMs;
    try {
      await wait(this.#clock, lasts, signal);
    } catch (error) {
      const done = Math.floor((this.#clock.now() - startMs) / this.#traits.tokenMs);
      this.#generate(this.#traits.goesOn ? reasoning + words : done);
      throw error;
    }
    this.#generate(reasoning + words);
    const luck = this.#draw.upTo(99);
    if (luck < this.#traits.failures / 4) throw connectionError('ECONNRESET');
    const choices = Array.from({ length: this.#choices }, (_, index) => ({
      index,
      message: { role: 'assistant', content: wordsOf(words) },
      finish_reason: 'stop',
    }));
    const { usage: _, ...bare } = completion({ choices }) as { usage: unknown };
    const body = { ...bare, ...usageIn(this.#traits.reporting === 'first' ? 'none' : this.#reported()) };
    const text = JSON.stringify(body);
    const isCut = luck < this.#traits.failures / 2;
    return respond(200, 'application/json', [isCut ? text.slice(0, text.length / 2) : text], isCut, signal);
  }

  /**
   * It generates what is read: between two reads nothing, as a provider whose buffers are full. Text is sent as it is
   * generated; reasoning takes its time, and nobody sees it.
   */
  stream(signal: AbortSignal): TransportResponse {
    const { reasoning, words } = this.#plan;
    const { reporting, tokenMs, failures } = this.#traits;
    const events: (() => Promise<string>)[] = [];
    const event = (fields: object, usage: object = {}) => sse({ ...chunk({}), ...fields, ...usage });
    const choice = (delta: object, finishReason: string | null, index: number) => ({
      choices: [{ index, delta, finish_reason: finishReason }],
    });
    events.push(async () =>
      event(
        choice({ role: 'assistant', content: '' }, null, 0),
        reporting === 'first' ? usageIn(this.#reported()) : {},
      ),
    );
    const think = async (tokens: number) => {
      const startMs = this.#clock.now();
      const before = this.#used.reasoning;
      try {
        await wait(this.#clock, tokens * tokenMs, signal);
      } catch (error) {
        this.#used.reasoning = before + Math.floor((this.#clock.now() - startMs) / tokenMs);
        throw error;
      }
      this.#used.reasoning = before + tokens;
    };
    const running = () => (reporting === 'running' ? usageIn(this.#reported()) : {});
    const steps = 1 + this.#draw.upTo(4);
    let [thought, said] = [0, 0];
    for (let step = 1; step <= steps; step++) {
      const thinks = Math.floor((reasoning * step) / steps) - thought;
      const says = Math.floor((words * step) / steps) - said;
      thought += thinks;
      said += says;
      events.push(async () => {
        await think(thinks);
        await wait(this.#clock, says * tokenMs, signal);
        this.#used.words += says;
        return Array.from({ length: this.#choices }, (_, at) =>
          event(choice({ content: wordsOf(says) }, null, at), running()),
        ).join('');
      });
    }
    const breaksAt = this.#draw.upTo(99) < failures / 2 ? this.#draw.upTo(events.length) : -1;
    if (breaksAt >= 0) {
      const how = this.#draw.oneOf(['breaks', 'ends', 'hangs', 'error']);
      events.splice(breaksAt, events.length, async () => {
        if (how === 'breaks') throw connectionError('ECONNRESET');
        if (how === 'hangs') await wait(this.#clock, 3_600_000, signal);
        // An error before the first token is a refusal, said late.
        if (how === 'error' && this.#used.words === 0) this.#isRefused = true;
        return how === 'error' ? sse({ error: { message: 'It broke.', code: 500 } }) : '';
      });
    } else {
      events.push(async () =>
        Array.from({ length: this.#choices }, (_, at) => event(choice({}, 'stop', at), running())).join(''),
      );
      if (reporting === 'true' || reporting === 'zero')
        events.push(async () => event({ choices: [] }, usageIn(this.#reported())));
      events.push(async () => sse('[DONE]'));
    }
    return respond(200, 'text/event-stream', events, false, signal);
  }

  /** So many tokens of each choice are there: reasoning, then words. */
  #generate(tokens: number): void {
    const reasoning = Math.min(tokens, this.#plan.reasoning);
    this.#used = { reasoning, words: Math.min(tokens - reasoning, this.#plan.words) };
  }

  #reported(): object | 'none' {
    const { reporting } = this.#traits;
    if (reporting === 'none') return 'none';
    if (reporting === 'zero') return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const reasoning = this.#used.reasoning * this.#choices;
    const output = reasoning + this.#used.words * this.#choices;
    return {
      prompt_tokens: this.#prompt.tokens,
      completion_tokens: output,
      total_tokens: this.#prompt.tokens + output,
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
  }

  #costNanoUsd(): number {
    if (this.#isRefused) return 0;
    const { pricing } = this.#endpoint;
    const prices = pricesFor(pricing, this.#prompt.tokens);
    const pico = (price: string | undefined) => Math.round(Number(price ?? 0) * 1e12);
    const picoUsd =
      this.#prompt.tokens * pico(prices.prompt) +
      this.#prompt.images * pico(prices.image) +
      this.#used.reasoning * this.#choices * pico(prices.internalReasoning ?? prices.completion) +
      this.#used.words * this.#choices * pico(prices.completion) +
      pico(prices.request);
    return Math.floor(picoUsd / 1_000);
  }
}

function pricesFor(pricing: Prices, promptTokens: number): Prices {
  const reached = pricing.longPrompts?.filter(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ?? [];
  const last = reached.at(-1);
  return last ? { ...pricing, prompt: last.prompt, completion: last.completion } : pricing;
}

/**
 * As its tokenizer counts, with something for each message. An image has any number of tokens that the context admits.
 */
function promptOf(
  { messages, tools = [] }: Asked,
  { bytesPerToken }: Traits,
  { contextLength = Number.POSITIVE_INFINITY }: WorldEndpoint,
  draw: Draw,
): { tokens: number; images: number } {
  let [tokens, images] = [draw.upTo(20), 0];
  for (const tool of tools) tokens += Math.ceil(Buffer.byteLength(JSON.stringify(tool)) / bytesPerToken);
  for (const { content } of messages) {
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : content) {
      if (part.type === 'text') tokens += Math.ceil(Buffer.byteLength(part.text ?? '') / bytesPerToken) + draw.upTo(4);
      else {
        images++;
        tokens += Math.min(draw.upTo(draw.isTrue(0.2) ? 50_000 : 1_500), Math.max(contextLength - tokens, 0));
      }
    }
  }
  return { tokens, images };
}

function usageIn(reported: object | 'none'): object {
  return reported === 'none' ? {} : { usage: reported };
}

/** A word is one token. */
function wordsOf(count: number): string {
  return 'word '.repeat(count);
}

function seedOf({ messages }: Asked): number {
  // Behind the instructions, if there are any.
  for (const { content } of messages) {
    const found = /^seed (\d+)\./.exec(typeof content === 'string' ? content : (content[0]?.text ?? ''));
    if (found) return Number(found[1]);
  }
  throw new Error('A request without a seed');
}

function endpointOf({ models }: World, provider: string, model: string): WorldEndpoint {
  const found = models
    .flatMap(({ endpoints }) => endpoints)
    .find((one) => one.provider === provider && one.model === model);
  if (!found) throw new Error(`There is no ${model} at ${provider}`);
  return found;
}

function jsonResponse(status: number, body: object): TransportResponse {
  return respond(status, 'application/json', [JSON.stringify(body)], false, new AbortController().signal);
}

function respond(
  status: number,
  type: string,
  events: readonly (string | (() => Promise<string>))[],
  breaks: boolean,
  signal: AbortSignal,
): TransportResponse {
  const left = [...events];
  return {
    status,
    headers: { 'content-type': type },
    body: {
      async read() {
        for (;;) {
          if (signal.aborted) throw signal.reason;
          const next = left.shift();
          if (next === undefined) {
            if (breaks) throw connectionError('ECONNRESET');
            return null;
          }
          const text = typeof next === 'string' ? next : await next();
          if (text !== '') return new TextEncoder().encode(text);
        }
      },
      cancel: () => left.splice(0),
    },
  };
}

function connectionError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 203.0.113.9:443`), { code });
}
