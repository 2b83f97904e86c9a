import { describe, expect, it } from 'vitest';
import { wait } from '../../src/base/clock.ts';
import type { Transport, TransportRequest } from '../../src/entries/testing.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import type { TestGateway } from '../support/gateway.ts';
import { dice } from '../support/random-routes.ts';
import { runs } from '../support/runs.ts';
import { chunk, completion, sse, usageChunk } from '../support/upstream.ts';

// Random requests, time-outs, retries, hedges and departures against an upstream that keeps a bill of its own and may
// lie about it: what it bills was booked before, and what was booked was within the limit.

type Dice = ReturnType<typeof dice>;

const promptNanoUsd = 1_000;
const outputNanoUsd = 8_000;

/** What one request to the upstream is answered with, and billed. */
interface Fate {
  kind: 'refuses' | 'dies' | 'silent' | 'nonsense' | 'answers';
  /** Before headers, and between events. */
  delayMs: number;
  /** Reasoning tokens that are billed and not shown. */
  hidden: number;
  words: number;
  usage: 'true' | 'none' | 'zero' | 'first' | 'running';
  breaksAt: number;
}

function fateOf(roll: Dice, maxTokens: number, reasons: boolean): Fate {
  const hidden = reasons ? roll.int(0, Math.floor(maxTokens / 2)) : 0;
  return {
    kind: roll.pick(['answers', 'answers', 'answers', 'answers', 'refuses', 'dies', 'silent', 'nonsense']),
    delayMs: roll.pick([0, 1, 300, 1_500]),
    hidden,
    words: roll.int(1, maxTokens - hidden),
    usage: roll.pick(['true', 'true', 'none', 'zero', 'first', 'running']),
    breaksAt: roll.chance(0.2) ? roll.int(0, 10) : Number.POSITIVE_INFINITY,
  };
}

/**
 * An upstream whose tokens are words of four bytes. It bills what it has made, and for JSON the whole, whoever is
 * there.
 */
function billing(roll: Dice, tested: () => TestGateway) {
  const bill = { nanoUsd: 0 };
  const transport: Transport = {
    async send(request) {
      const body = JSON.parse(request.body as string);
      const promptTokens = Math.max(Math.ceil(JSON.stringify(body.messages).length / 4), 1);
      const fate = fateOf(roll, body.max_tokens, body.reasoning_effort !== undefined || body.model === 'm-thinks');
      if (fate.kind === 'refuses') {
        await wait(tested().clock, fate.delayMs, request.signal);
        return answer(roll.pick([400, 429, 500, 503]), 'application/json', ['{"error":{"message":"no"}}']);
      }
      bill.nanoUsd += promptTokens * promptNanoUsd;
      const usage = (tokens: number) =>
        usageOf(fate.usage === 'zero' ? 0 : promptTokens, fate.usage === 'zero' ? 0 : tokens);
      if (body.stream) return streamed(request, fate, usage);
      // Nobody reads the response of a client that has left, and it is billed all the same.
      bill.nanoUsd += (fate.words + fate.hidden) * outputNanoUsd;
      if (fate.kind === 'silent') await wait(tested().clock, 1e9, request.signal);
      await wait(tested().clock, fate.delayMs, request.signal);
      if (fate.kind === 'dies') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      if (fate.kind === 'nonsense') return answer(200, 'application/json', ['<html>']);
      const reported = fate.usage === 'none' || fate.usage === 'first' ? undefined : usage(fate.words + fate.hidden);
      const result = completion({ usage: reported }, { content: 'word'.repeat(fate.words) });
      return answer(200, 'application/json', [JSON.stringify(result)]);
    },
  };

  async function streamed({ signal }: TransportRequest, fate: Fate, usage: (tokens: number) => object) {
    const { clock } = tested();
    if (fate.kind === 'silent') await wait(clock, 1e9, signal);
    if (fate.hidden > 0) bill.nanoUsd += fate.hidden * outputNanoUsd;
    await wait(clock, fate.delayMs, signal);
    if (fate.kind === 'dies') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    if (fate.kind === 'nonsense') return answer(200, 'text/event-stream', ['data: <html>\n\n']);
    let said = 0;
    let isOver = false;
    const read = async (): Promise<Uint8Array | null> => {
      if (signal.aborted) throw signal.reason;
      if (isOver) return null;
      if (said === 0 && fate.usage === 'first') {
        said = -1;
        return bytesOf(sse(chunk({ role: 'assistant', content: '' }, null, { usage: usage(0) })));
      }
      said = Math.max(said, 0);
      if (said > fate.breaksAt) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      if (roll.chance(0.3)) await wait(clock, fate.delayMs, signal);
      if (said < fate.words) {
        const count = Math.min(roll.int(1, 40), fate.words - said);
        said += count;
        // What is on its way to somebody who has left is not billed: nothing here can count it.
        bill.nanoUsd += count * outputNanoUsd;
        const running = fate.usage === 'running' ? { usage: usage(said + fate.hidden) } : {};
        return bytesOf(sse(chunk({ content: 'word'.repeat(count) }, null, running)));
      }
      isOver = true;
      const last = fate.usage === 'true' || fate.usage === 'zero' || fate.usage === 'running';
      return bytesOf(sse(chunk({}, 'stop'), ...(last ? [usageChunk(usage(said + fate.hidden))] : []), '[DONE]'));
    };
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: { read, cancel: () => undefined } };
  }
  return { bill, transport };
}

const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
const bytesOf = (text: string) => new TextEncoder().encode(text);

function answer(status: number, type: string, pieces: string[]) {
  const read = async () => {
    const piece = pieces.shift();
    return piece === undefined ? null : bytesOf(piece);
  };
  return { status, headers: { 'content-type': type }, body: { read, cancel: () => undefined } };
}

/** A client that reads all, some, or nothing, and leaves or stays. */
async function client(roll: Dice, tested: TestGateway): Promise<void> {
  const { clock } = tested;
  const stream = roll.chance(0.7);
  const body = {
    model: roll.pick(['acme/one', 'acme/two', 'acme/thinks']),
    messages: [{ role: 'user', content: 'x'.repeat(roll.pick([1, 50, 2_000])) }],
    max_tokens: roll.pick([2, 40, 400]),
    stream,
    ...(roll.chance(0.2) ? { reasoning_effort: 'high' } : {}),
  };
  const controller = new AbortController();
  const leavesAfterMs = roll.pick([null, null, 0, 1, 250, 1_000, 3_000]);
  if (leavesAfterMs !== null) clock.after(leavesAfterMs, () => controller.abort());
  const response = await tested.send(body, {}, controller.signal).catch(() => null);
  if (!response?.body) return;
  const reader = response.body.getReader();
  const reads = roll.pick([0, 1, 3, Number.POSITIVE_INFINITY]);
  try {
    for (let n = 0; n < reads && !(await reader.read()).done; n++);
    if (roll.chance(0.5)) await reader.cancel();
  } catch {
    // It has left, or was cut off.
  }
}

async function play(seed: number): Promise<void> {
  const roll = dice(seed);
  let tested: TestGateway | null = null;
  const { bill, transport } = billing(roll, () => tested as TestGateway);
  const limitUsd = roll.pick([0.002, 0.005, 0.02, 1]);
  tested = await withBudget(limitUsd, {
    transport,
    timeouts: { headersMs: 1_000, jsonHeadersMs: 1_000, firstEventMs: 1_000, idleMs: 1_000, totalMs: 10_000 },
    retry: { attemptsPerEndpoint: roll.pick([1, 2, 3]) },
    hedge: { enabled: roll.chance(0.5), afterMs: 200, maxShare: 1 },
    health: { failuresToCooldown: 1_000 },
  });
  for (let n = roll.int(1, 4); n > 0; n--) {
    const clients = Array.from({ length: roll.int(1, 3) }, () => client(roll, tested as TestGateway));
    await tested.clock.advance(roll.pick([10, 2_000, 12_000]));
    void Promise.all(clients);
  }
  await tested.clock.advance(20_000);
  const { spent, held } = await ledgerOf(tested);
  const booked = tested.records.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
  expect({ seed, held, isRecorded: spent === booked }).toEqual({ seed, held: 0, isRecorded: true });
  expect({ seed, isBilled: bill.nanoUsd <= spent, isWithin: spent <= Math.round(limitUsd * 1e9) }).toEqual({
    seed,
    isBilled: true,
    isWithin: true,
  });
}

describe('whatever clients, providers and the network do', () => {
  const seeds = runs(300, 3_000);
  it(`what was billed is booked, and what is booked is within the limit (${seeds} seeds)`, {
    timeout: 600_000,
  }, async () => {
    for (let seed = 1; seed <= seeds; seed++) await play(seed);
  });
});
