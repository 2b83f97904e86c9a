import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextTurn, testGateway, testPricing, upstreamKeys } from '../support/gateway.ts';
import { responsesUpstream, type Said } from '../support/responses-upstream.ts';
import { runs } from '../support/runs.ts';
import { isEnd, openSocket } from '../support/socket.ts';

// A client on one connection, and a provider on a kept one that refuses, forgets, fails, closes and hangs, before, in and
// between responses. The provider keeps its own bill. What the client is told to be whole is whole; what is on the bill is
// booked: to the nano-dollar where the provider said what it charges, and no less where it could not.

const fault = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Said>({}) },
  {
    weight: 2,
    arbitrary: fc.record({
      error: fc.constantFrom(
        { status: 400, code: 'previous_response_not_found' },
        { status: 400, code: 'websocket_connection_limit_reached' },
        { status: 400, code: 'invalid_prompt' },
        { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '1' } },
        { status: 500, code: 'server_error' },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      after: fc.record({
        events: fc.nat(9),
        does: fc.constantFrom('fail' as const, 'close' as const, 'hang' as const),
      }),
    }),
  },
);
const said = fc.tuple(fault, fc.integer({ min: 1, max: 6 }), fc.boolean()).map(
  ([one, words, thinks]): Said => ({
    ...one,
    text: Array.from({ length: words }, (_, at) => `word${at}`).join(' '),
    ...(thinks ? { thought: 'sealed' } : {}),
  }),
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('turn' as const),
      goesOn: fc.boolean(),
      lane: fc.constantFrom(undefined, undefined, 'a'),
      waits: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), isRefusing: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pause' as const), ms: fc.constantFrom(1_000, 400_000, 3_600_000) }),
  },
);

it('whatever a kept connection goes through, what is on the bill is booked, and nothing that broke looks whole', async () => {
  const met = { exact: 0, estimated: 0, goneOn: 0, overHttp: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { maxLength: 12 }),
      fc.array(step, { maxLength: 10 }),
      fc.boolean(),
      async (will, steps, leaves) => {
        const provider = responsesUpstream();
        provider.will(...will);
        const up = { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, dialect: 'openai-responses' } as const;
        const tested = testGateway({
          providers: { up: { ...up, webSocket: true } },
          models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] }],
          transport: provider.transport,
          webSockets: { pingMs: 1_000_000_000, lifeMs: 1_000_000_000 },
        });
        const socket = await openSocket(tested);
        let last: string | null = null;
        for (const one of steps) {
          if (one.do === 'close') provider.connections.at(-1)?.close();
          else if (one.do === 'refuse') provider.refuses = one.isRefusing ? 426 : null;
          else if (one.do === 'pause') await tested.clock.advance(one.ms);
          else {
            const more = one.goesOn && last !== null ? { previous_response_id: last } : {};
            const lane = one.lane === undefined ? {} : { stream_id: one.lane };
            socket.send({ type: 'response.create', model: 'acme/fast', input: 'Go on', ...more, ...lane });
            if (one.waits) {
              const end = (await socket.until(isEnd)).at(-1);
              last = end?.type === 'response.completed' ? (end.response.id as string) : null;
            } else for (let turn = 0; turn < 5; turn++) await nextTurn();
          }
        }
        if (leaves) socket.session.closed();
        await tested.run(settled(tested));
        const { records } = tested;
        const billOf = (one: (typeof provider.asked)[number]) => one.promptTokens * 2_000 + one.outputTokens * 8_000;
        const bill = provider.asked.reduce((sum, one) => sum + billOf(one), 0);
        const booked = records.reduce((sum, { costNanoUsd }) => sum + Number(costNanoUsd ?? 0), 0);
        // The provider says what it charges at the end of a response alone.
        const broken = provider.asked.filter(({ isComplete, isRefused }) => !isComplete && !isRefused);
        // A request that meets a connection just as it closes is estimated too, though the provider has not seen it.
        const mayCross =
          steps.some((one) => one.do === 'close' || one.do === 'pause') || will.some(({ after }) => after);
        const isTold = broken.length === 0 && !mayCross;
        if (isTold) expect(booked).toBe(bill);
        else {
          const told = provider.asked.filter(({ isComplete }) => isComplete).reduce((sum, one) => sum + billOf(one), 0);
          expect(booked).toBeGreaterThanOrEqual(told);
          // A response that broke off is estimated from what was sent and received. Where nothing was received, nobody knows
          // whether the model was asked at all.
          if (broken.some(({ outputTokens }) => outputTokens > 1)) expect(booked).toBeGreaterThan(told);
        }
        met[isTold ? 'exact' : 'estimated']++;
        for (const { type, response } of socket.frames) {
          if (type !== 'response.completed') continue;
          const text = String(
            (response.output.at(-1) as unknown as { content?: { text: string }[] }).content?.[0]?.text,
          );
          expect([...will, { text: 'ok' }].map((one) => one.text)).toContain(text);
        }
        for (const { body, over } of provider.asked) {
          if (body.previous_response_id !== undefined) met.goneOn++;
          if (over === 'http') met.overHttp++;
          expect(body.previous_response_id === undefined || over === 'socket').toBe(true);
        }
        expect(tested.gateway.state()).toMatchObject({ requestsInFlight: 0, holds: 0, waitingBookings: 0 });
        socket.session.closed();
        for (let turn = 0; turn < 20; turn++) await nextTurn();
        expect(provider.connections.filter(({ isOpen }) => isOpen)).toEqual([]);
        await tested.gateway.close();
      },
    ),
    { numRuns: runs(60, 400) },
  );
  for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
}, 600_000);

/** Settles when nothing is being made any more. */
async function settled({ gateway }: ReturnType<typeof testGateway>): Promise<void> {
  for (let quiet = 0; quiet < 30; quiet++) {
    await nextTurn();
    if (gateway.state().requestsInFlight > 0) quiet = 0;
  }
}
