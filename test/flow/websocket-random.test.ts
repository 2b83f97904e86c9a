import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Transport } from '../../src/transport/transport.ts';
import { nextTurn, testGateway, testPricing } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { type Frame, isEnd, openSocket } from '../support/socket.ts';
import { chunk, sse, usageChunk } from '../support/upstream.ts';

// Random clients on one connection: lanes, conversations that go on from known, old and unknown responses, input in between,
// providers that refuse, break and hang, and a client that leaves at any moment. What must hold is said by a reference
// that knows the frames alone.

const behaviours = ['ok', 'ok', 'ok', 'tool', 'refuse', 'break', 'hang'] as const;
type Behaviour = (typeof behaviours)[number];

/** Each text of the conversation that the provider was asked with: `m3` of the client, `r3` of the model, `s3` in between. */
const marksIn = (text: string) => [...text.matchAll(/\b[mrs]\d+\b/g)].map(([mark]) => mark);

/** A provider that does what the last message says, and keeps its own bill. */
function provider() {
  const asked: { marks: string[]; does: Behaviour; isAborted: boolean; isPaid: boolean }[] = [];
  const send: Transport['send'] = async ({ body, signal }) => {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const { messages } = JSON.parse(text) as { messages: object[] };
    const marks = marksIn(JSON.stringify(messages));
    const last = JSON.stringify(messages);
    const does = /does (\w+)(?!.*does )/.exec(last)?.[1] as Behaviour;
    const one = { marks, does, isAborted: false, isPaid: false };
    asked.push(one);
    signal.addEventListener('abort', () => {
      one.isAborted = true;
    });
    const said = `r${/.*\bm(\d+)\b/.exec(last)?.[1]}`;
    const bytes = (frames: string) => new TextEncoder().encode(frames);
    const call = { index: 0, id: `call_${said}`, type: 'function', function: { name: 'look', arguments: '{}' } };
    const pieces: (Uint8Array | 'breaks' | 'hangs')[] =
      does === 'tool'
        ? [bytes(sse(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), usageChunk(), '[DONE]'))]
        : [bytes(sse(chunk({ content: said })))];
    if (does === 'break') pieces.push('breaks');
    else if (does === 'hang') pieces.push('hangs');
    else if (does !== 'tool') pieces.push(bytes(sse(chunk({}, 'stop'), usageChunk(), '[DONE]')));
    if (does === 'refuse')
      return { status: 400, headers: none, body: { read: async () => null, cancel: () => undefined } };
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: {
        async read() {
          await nextTurn();
          if (signal.aborted) throw signal.reason;
          const piece = pieces.shift();
          if (piece === 'breaks') throw new Error('ECONNRESET');
          if (piece === 'hangs')
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          if (piece === undefined) one.isPaid = true;
          return (piece as Uint8Array | undefined) ?? null;
        },
        cancel: () => undefined,
      },
    };
  };
  return { transport: { send }, asked };
}

const none: Record<string, string> = {};

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      lane: fc.constantFrom(null, 'a', 'b', 'c'),
      does: fc.constantFrom(...behaviours),
      on: fc.constantFrom('nothing', 'latest', 'other', 'any', 'unknown'),
      pick: fc.nat(20),
      isReady: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('steer' as const), pick: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 12 }) }) },
);

interface Created {
  lane: string | null;
  mark: string;
  previousId: string | null;
}

it('a connection keeps its promises, whatever its client, its providers and the end do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), fc.boolean(), async (actions, leaves) => {
      const { transport, asked } = provider();
      const tested = testGateway({
        transport,
        retry: { maxAttempts: 1 },
        timeouts: { totalMs: 5_000 },
        models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] }],
      });
      const socket = await openSocket(tested);
      const created: Created[] = [];
      const steered: string[] = [];
      const idsOf = (frames: readonly Frame[]) => frames.filter(isEnd).flatMap(({ response }) => response?.id ?? []);
      const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
      for (const step of actions) {
        const ends = socket.frames.filter(isEnd);
        if (step.do === 'wait') for (let turn = 0; turn < step.turns; turn++) await nextTurn();
        else if (step.do === 'steer') {
          const running = socket.frames.filter(({ type }) => type === 'response.created');
          const previous_response_id = running.at(-1 - step.pick)?.response.id ?? 'gen-none';
          steered.push(`s${steered.length}`);
          socket.send({ type: 'response.steer', previous_response_id, input: `${steered.at(-1)}` });
        } else {
          const inLane = ends.filter(({ stream_id: id = null }) => id === step.lane);
          const known = {
            nothing: null,
            latest: idsOf(inLane).at(-1),
            other: idsOf(ends).at(-1),
            unknown: 'gen-none',
            any: idsOf(ends)[step.pick],
          };
          const previousId = known[step.on as keyof typeof known] ?? null;
          const mark = `m${created.length}`;
          created.push({ lane: step.lane, mark, previousId });
          socket.send({
            type: 'response.create',
            model: 'acme/fast',
            input: `${mark} does ${step.does}`,
            tools,
            ...(step.lane === null ? {} : { stream_id: step.lane }),
            ...(previousId === null ? {} : { previous_response_id: previousId }),
            ...(step.isReady ? {} : { generate: step.does !== 'refuse' }),
          });
        }
      }
      if (leaves) {
        const before = socket.frames.length;
        socket.session.closed();
        await tested.run(settled(tested));
        expect(socket.frames).toHaveLength(before);
      } else {
        await tested.run(settled(tested));
        expectOrder(socket.frames, created, steered);
      }
      // Nothing is left: no call, no hold; what hung was aborted.
      expect(tested.gateway.state()).toMatchObject({ requestsInFlight: 0, holds: 0, waitingBookings: 0 });
      expect(asked.filter(({ does, isAborted }) => does === 'hang' && !isAborted)).toEqual([]);
      // What the provider has on its bill was booked: each complete response has the same usage.
      const paid = asked.filter(({ isPaid }) => isPaid).length;
      const booked = tested.records.filter(({ costNanoUsd }) => Number(costNanoUsd) > 0).length;
      expect(booked).toBeGreaterThanOrEqual(paid);
      expectConversations(
        socket.frames,
        created,
        asked.map(({ marks }) => marks),
      );
      await tested.gateway.close();
    }),
    { numRuns: runs(40, 500) },
  );
}, 600_000);

/** Settles when nothing is being made any more. */
async function settled({ gateway }: ReturnType<typeof testGateway>): Promise<void> {
  for (let quiet = 0; quiet < 30; quiet++) {
    await nextTurn();
    if (gateway.state().requestsInFlight > 0) quiet = 0;
  }
}

/** Each `response.create` has one end, in its lane, in order; steering has one outcome at most, and events are numbered. */
function expectOrder(frames: readonly Frame[], created: readonly Created[], steered: readonly string[]): void {
  for (const lane of [null, 'a', 'b', 'c']) {
    const inLane = frames.filter(({ stream_id: id = null }) => id === lane);
    const ends = inLane.filter(isEnd);
    // Those that followed by themselves are beside those that were asked for.
    expect(ends.length).toBeGreaterThanOrEqual(created.filter((one) => one.lane === lane).length);
    let number = -1;
    for (const frame of inLane) {
      if (frame.type === 'response.created') number = -1;
      if (frame.type === 'error' || frame.type.startsWith('response.steer')) {
        if (frame.type !== 'error' && number >= 0 && frame.sequence_number === number + 1) number++;
        continue;
      }
      expect(frame.sequence_number).toBe(number + 1);
      number++;
    }
  }
  const accepted = frames.filter(({ type }) => type === 'response.steer.accepted');
  const failed = frames.filter(({ type }) => type === 'response.steer.failed');
  const refused = failed.filter(({ steer }) => steer.id === undefined);
  expect(accepted.length + refused.length).toBe(steered.length);
  const ids = accepted.map(({ steer }) => steer.id);
  for (const { steer } of failed) if (steer.id !== undefined) expect(ids).toContain(steer.id);
}

/** The provider was asked with the very conversation that the frames tell of, and with nothing of another one. */
function expectConversations(frames: readonly Frame[], created: readonly Created[], asked: readonly string[][]): void {
  const conversations = new Map<string, string[]>();
  for (const { type, response } of frames) {
    if (type !== 'response.completed' && type !== 'response.incomplete') continue;
    const said = marksIn(JSON.stringify(response.output));
    const before = conversations.get(response.previous_response_id as string) ?? [];
    conversations.set(response.id, [...before, ...said]);
  }
  for (const marks of asked) {
    const own = marks.findLast((mark) => mark.startsWith('m'));
    const turn = created.find(({ mark }) => mark === own);
    expect(turn).toBeDefined();
    // Answers in the conversation are of its own chain alone.
    const chain = turn?.previousId === null ? [] : (conversations.get(turn?.previousId as string) ?? []);
    const answers = marks.filter((mark) => mark.startsWith('r') && !mark.startsWith('call'));
    for (const answer of answers)
      expect([...chain, `r${own?.slice(1)}`].concat(marks.filter((mark) => mark.startsWith('s')))).toContain(answer);
  }
}
