import { expect, it } from 'vitest';
import { parsePrice } from '../../src/base/money.ts';
import type { Pricing } from '../../src/call/model.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { type PricedTokens, priceUsage, splitCompletion, splitPrompt } from '../../src/pricing/price.ts';
import type { ChatRequest, Usage } from '../../src/schema/chat/chat.ts';
import { type GoldenCost, type GoldenPrice, goldenCosts, goldenPrices } from '../support/golden-costs.ts';
import { boundOf } from '../support/prompt-bound.ts';
import { loadRecordings, payloadsOf, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { type Replay, replayGateway } from '../support/replay.ts';

/** What a recorded answer says of its tokens, as our dialect reads it, and of its cost, as the provider does. */
interface Block {
  name: string;
  recording: Recording;
  usage: Usage;
  images: number;
  raw: Record<string, unknown>;
}

/** Mistral and OpenRouter speak chat completions as well. */
const dialects = ['openai-chat', 'openrouter-chat', 'mistral-chat'];

function loadBlocks(): Map<string, Block> {
  const blocks = new Map<string, Block>();
  const timesOf = new Map<string, number>();
  for (const recording of dialects.flatMap((dialect) => loadRecordings(dialect))) {
    if (recording.status !== 200) continue;
    const read = recording.isStream ? readStream(recording) : readWhole(recording);
    if (read.usage === null) continue;
    const times = (timesOf.get(recording.name) ?? 0) + 1;
    timesOf.set(recording.name, times);
    const name = times === 1 ? recording.name : `${recording.name}#${times}`;
    const images = recording.request ? boundOf(recording.request as unknown as ChatRequest).images : 0;
    blocks.set(name, { name, recording, images, usage: read.usage, raw: read.raw });
  }
  return blocks;
}

const textOf = ({ body }: Recording) => new TextDecoder().decode(body);

function readWhole(recording: Recording): { usage: Usage | null; raw: Record<string, unknown> } {
  const body = JSON.parse(textOf(recording));
  return { usage: openaiChat.decodeResult(body, {}).usage, raw: body.usage };
}

function readStream(recording: Recording): { usage: Usage | null; raw: Record<string, unknown> } {
  const decoder = openaiChat.streamDecoder({});
  let usage: Usage | null = null;
  let raw = {};
  for (const payload of payloadsOf(textOf(recording))) {
    for (const part of decoder.decode(payload, '')) if (part.kind === 'usage') usage = part.usage;
    if (payload !== '[DONE]') raw = JSON.parse(payload).usage ?? raw;
  }
  return { usage, raw };
}

/** USD by the million tokens are millionths of a USD each. */
const perToken = (price: string | undefined) =>
  price === undefined ? undefined : (parsePrice(`${price}e-6`) ?? undefined);
const each = (price: string | undefined) => (price === undefined ? undefined : (parsePrice(price) ?? undefined));

function pricingOf(price: GoldenPrice): Pricing {
  return {
    promptPicoUsd: perToken(price.prompt) as number,
    completionPicoUsd: perToken(price.completion) as number,
    cacheReadPicoUsd: perToken(price.cacheRead),
    cacheWritePicoUsd: perToken(price.cacheWrite),
    cacheWriteHourPicoUsd: perToken(price.cacheWriteHour),
    reasoningPicoUsd: perToken(price.reasoning),
    imagePicoUsd: each(price.image),
    requestPicoUsd: each(price.request),
    webSearchPicoUsd: each(price.webSearch),
  };
}

const sum = (parts: readonly PricedTokens[]) => parts.reduce((all, { tokens }) => all + tokens, 0);
const kindOf = (parts: readonly PricedTokens[], kind: PricedTokens['kind']) =>
  parts.find((part) => part.kind === kind)?.tokens ?? 0;

describeWithShared('what recorded answers cost', () => {
  const blocks = loadBlocks();
  const blockOf = ({ recording }: GoldenCost): Block => {
    const block = blocks.get(recording);
    if (!block) throw new Error(`no usage in ${recording}`);
    return block;
  };

  it('is known for many providers and kinds', () => {
    expect(goldenCosts.length).toBeGreaterThanOrEqual(60);
    const named = goldenCosts.map(blockOf);
    expect(new Set(named.map(({ name }) => name)).size).toBe(goldenCosts.length);
    expect(new Set(named.map(({ recording }) => recording.provider)).size).toBeGreaterThanOrEqual(16);
    const having = (has: (block: Block) => unknown) => named.filter(has).length;
    expect(having(({ usage }) => usage.prompt_tokens_details?.cached_tokens)).toBeGreaterThanOrEqual(15);
    expect(having(({ usage }) => usage.prompt_tokens_details?.cache_write_tokens)).toBeGreaterThanOrEqual(1);
    expect(having(({ usage }) => usage.completion_tokens_details?.reasoning_tokens)).toBeGreaterThanOrEqual(40);
    expect(having(({ usage }) => usage.server_tool_use_details?.web_search_requests)).toBeGreaterThanOrEqual(3);
    expect(having(({ images }) => images)).toBeGreaterThanOrEqual(4);
    expect(having(({ recording }) => recording.isStream)).toBeGreaterThanOrEqual(20);
  });

  it.each(goldenCosts.map((golden) => [golden.recording, golden.price, golden] as const))(
    'of %s at the price of %s is exact to the nano-USD',
    (_, price, golden) => {
      const { usage, images } = blockOf(golden);
      expect(priceUsage(usage, pricingOf(goldenPrices[price]), images).totalNanoUsd).toBe(golden.nanoUsd);
    },
  );

  it('is what the gateway shows and records', async () => {
    const gateways = new Map<string, Replay>();
    let count = 0;
    for (const golden of goldenCosts) {
      const { prompt, completion, cacheRead, cacheWrite, reasoning, request, ...others }: GoldenPrice =
        goldenPrices[golden.price];
      // What the requests of the recordings held is not asked for here.
      if (others.image !== undefined || others.webSearch !== undefined) continue;
      const { recording } = blockOf(golden);
      const million = (price: string | undefined) => (price === undefined ? undefined : `${price}e-6`);
      let gateway = gateways.get(golden.price);
      if (!gateway) {
        gateway = replayGateway({
          pricing: {
            prompt: `${prompt}e-6`,
            completion: `${completion}e-6`,
            inputCacheRead: million(cacheRead),
            inputCacheWrite: million(cacheWrite),
            internalReasoning: million(reasoning),
            request,
          },
        });
        gateways.set(golden.price, gateway);
      }
      const { text } = await gateway.send(
        { headers: recording.headers, pieces: [recording.body] },
        { stream: recording.isStream },
      );
      const shown = recording.isStream
        ? payloadsOf(text)
            .flatMap((payload) => (payload === '[DONE]' ? [] : (JSON.parse(payload).usage ?? [])))
            .at(-1)
        : JSON.parse(text).usage;
      expect([golden.recording, shown.cost]).toEqual([golden.recording, golden.nanoUsd / 1e9]);
      expect(gateway.lastRecord().costNanoUsd).toBe(golden.nanoUsd);
      expect(shown.estimated).toBeUndefined();
      count++;
    }
    expect(count).toBeGreaterThanOrEqual(60);
  });

  it('is what the provider itself charged, where it says so', () => {
    const ticks = goldenCosts.filter((golden) => 'cost_in_usd_ticks' in blockOf(golden).raw);
    expect(ticks.length).toBe(4);
    // xAI counts in ten-billionths of a USD.
    for (const golden of ticks) expect(golden.nanoUsd * 10).toBe(blockOf(golden).raw.cost_in_usd_ticks);

    const detailed = goldenCosts.filter((golden) => 'cost_details' in blockOf(golden).raw);
    expect(detailed.length).toBeGreaterThanOrEqual(19);
    for (const golden of detailed) {
      const { usage, raw } = blockOf(golden);
      const said = raw.cost_details as Record<string, number>;
      const cost = priceUsage(usage, pricingOf(goldenPrices[golden.price]));
      const near = (usd: number | undefined, nanoUsd: number) => Math.abs((usd ?? 0) * 1e9 - nanoUsd) < 1;
      const isSame = near(said.upstream_inference_completions_cost, cost.completionNanoUsd);
      expect([golden.recording, isSame]).toEqual([golden.recording, true]);
      // One provider charges tokens twice: for being written, and for being read at once.
      const isTwice = (usage.prompt_tokens_details?.cache_write_tokens ?? 0) > 0;
      expect([golden.recording, near(said.upstream_inference_prompt_cost, cost.promptNanoUsd)]).toEqual([
        golden.recording,
        !isTwice,
      ]);
    }
  });

  it('has for every block and at every price each token once, and parts that add up', () => {
    expect(blocks.size).toBeGreaterThanOrEqual(130);
    for (const { name, usage, images } of blocks.values()) {
      for (const price of Object.values(goldenPrices)) {
        const pricing = pricingOf(price);
        const prompt = splitPrompt(usage, pricing);
        const [uncached, cached, written] = [
          kindOf(prompt, 'plain'),
          kindOf(prompt, 'cacheRead'),
          kindOf(prompt, 'cacheWrite'),
        ];
        expect([name, uncached + cached + written]).toEqual([name, usage.prompt_tokens]);
        expect([name, sum(splitCompletion(usage, pricing))]).toEqual([name, usage.completion_tokens]);
        const cost = priceUsage(usage, pricing, images);
        expect(Math.min(cost.promptNanoUsd, cost.completionNanoUsd, cost.otherNanoUsd)).toBeGreaterThanOrEqual(0);
        expect(cost.promptNanoUsd + cost.completionNanoUsd + cost.otherNanoUsd).toBe(cost.totalNanoUsd);
      }
    }
  });
});
