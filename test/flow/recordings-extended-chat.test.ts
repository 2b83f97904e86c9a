import { expect, it, vi } from 'vitest';
import { checkChunks } from '../support/check-chunks.ts';
import {
  countRecordedFiles,
  expectedOf,
  loadRecordings,
  payloadsOf,
  type Recording,
  readSaidStream,
  readSaidWhole,
} from '../support/recordings.ts';
import { describeWithShared, validateAgainstReference } from '../support/reference.ts';
import { replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

// Chat completions with more in them: a router's, which has reasoning details, annotations and costs, and Mistral's,
// whose content may be parts. Both are spoken to as chat completions.

const encoder = new TextEncoder();
const decoder = new TextDecoder();
type Json = Record<string, unknown>;

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

for (const [dialect, least] of [
  ['openrouter-chat', { results: 21, failures: 3, streams: 5 }],
  ['mistral-chat', { results: 8, failures: 0, streams: 4 }],
] as const) {
  describeWithShared(`recorded answers of ${dialect}`, () => {
    const recordings = loadRecordings(dialect);
    const cases = (choose: (one: Recording) => boolean) =>
      recordings.filter(choose).map((one) => [one.name, one] as const);
    const results = cases(({ isStream, status }) => !isStream && status === 200);
    const failures = cases(({ status }) => status !== 200);
    const streams = cases(({ isStream, status }) => isStream && status === 200);
    const passthrough = replayGateway();
    const decoded = replayGateway({ lane: 'decoded' });

    it('are all there', () => {
      const files = new Set(recordings.flatMap((one) => one.files));
      expect(files.size).toBe(countRecordedFiles(dialect));
      expect(results.length + failures.length + streams.length).toBe(recordings.length);
      expect(results.length).toBeGreaterThanOrEqual(least.results);
      expect(failures.length).toBeGreaterThanOrEqual(least.failures);
      expect(streams.length).toBeGreaterThanOrEqual(least.streams);
    });

    it.each(results)('%s says the same through the gateway, as JSON and as a stream', async (_, recording) => {
      const theirs = unfolded(JSON.parse(textOf(recording)), 'message');
      const whole = await passthrough.send(answerOf(recording), {});
      expect(whole.status).toBe(200);
      const ours = JSON.parse(whole.text);
      expect(validateAgainstReference('ChatResult', ours)).toEqual([]);
      expect(readSaidWhole(whole.text).choices).toEqual(expectedOf(readSaidWhole(JSON.stringify(theirs))));
      expect(extrasOf([ours], 'message')).toEqual(extrasOf([theirs], 'message'));
      compareUsage(ours.usage, theirs.usage);
      checkArguments(readSaidWhole(whole.text).choices);

      const streamed = await passthrough.send(answerOf(recording), { stream: true });
      checkChunks(streamed.text);
      expect(readSaidStream(streamed.text).choices).toEqual(readSaidWhole(whole.text).choices);
      expect(extrasOf(eventsOf(streamed.text), 'delta')).toEqual(extrasOf([theirs], 'message'));
    });

    it.each(streams)('%s says the same through the gateway, on either lane and as JSON', async (_, recording) => {
      const events = eventsOf(textOf(recording)).map((event) => unfolded(event, 'delta'));
      const said = readSaidStream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      for (const replay of [passthrough, decoded]) {
        const { status, text } = await replay.send(answerOf(recording), { stream: true });
        expect(status).toBe(200);
        checkChunks(text);
        const ours = readSaidStream(text);
        expect([ours.isDone, ours.error, ours.usageCount]).toEqual([true, null, 1]);
        expect(ours.choices).toEqual(expectedOf(said));
        checkArguments(ours.choices);
        expect(extrasOf(eventsOf(text), 'delta')).toEqual(extrasOf(events, 'delta'));
        compareUsage(usageOf(eventsOf(text)), usageOf(events));
      }
      const whole = await passthrough.send(answerOf(recording), {});
      expect(whole.status).toBe(200);
      expect(validateAgainstReference('ChatResult', JSON.parse(whole.text))).toEqual([]);
      expect(readSaidWhole(whole.text).choices).toEqual(expectedOf(said));
    });

    it.each(streams)('%s says the same wherever its bytes are cut', async (_, recording) => {
      const { text } = await passthrough.send(answerOf(recording), { stream: true });
      const places = placesToCut(recording.body);
      for (const at of places) {
        const pieces = [recording.body.subarray(0, at), recording.body.subarray(at)];
        const cut = await passthrough.send({ pieces }, { stream: true });
        if (cut.text === text) continue;
        expect([at, readSaidStream(cut.text)]).toEqual([at, readSaidStream(text)]);
        checkChunks(cut.text);
      }
      expect(places.length).toBeGreaterThan(5);
    });

    it.each(streams)('%s is never called complete where it ends before its end', async (_, recording) => {
      const text = textOf(recording);
      const end = encoder.encode(text.slice(0, text.search(/"finish_reason": ?"/))).length;
      for (const share of [0.5, 0.9, 1]) {
        const { text: sent } = await passthrough.send(
          { pieces: [recording.body.subarray(0, Math.floor(end * share))] },
          { stream: true },
        );
        expect(sent).toMatch(/"error":/);
      }
    });

    if (failures.length > 0)
      it.each(failures)('%s becomes an error in the envelope', async (_, recording) => {
        const { error } = JSON.parse(textOf(recording));
        for (const stream of [false, true]) {
          const { status, text } = await passthrough.send(answerOf(recording), { stream });
          expect([status, JSON.parse(text).error]).toMatchObject([
            recording.status,
            { code: recording.status, message: error.message, metadata: { provider_name: 'replay' } },
          ]);
        }
      });
  });
}

function answerOf({ status, headers, body }: Recording) {
  return { status, headers, pieces: [body] };
}

function textOf({ body }: Recording): string {
  return decoder.decode(body);
}

function eventsOf(stream: string): Json[] {
  return payloadsOf(stream)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload));
}

/** With parts of a content joined: text is the content, thinking the reasoning. */
function unfolded(answer: Json, holder: 'message' | 'delta'): Json {
  const choices = ((answer.choices ?? []) as Json[]).map((choice) => {
    const held = (choice[holder] ?? {}) as Json;
    if (!Array.isArray(held.content)) return choice;
    const joined = (parts: Json[]): string =>
      parts.map((part) => (part.type === 'text' ? (part.text as string) : '')).join('');
    const parts = held.content as Json[];
    const thinking = parts.filter(({ type }) => type === 'thinking');
    const reasoning = thinking.map((part) => joined(part.thinking as Json[])).join('');
    return { ...choice, [holder]: { ...held, content: joined(parts), ...(thinking.length > 0 ? { reasoning } : {}) } };
  });
  return { ...answer, choices };
}

/** Annotations, and signatures and secrets of reasoning, of all choices together. */
function extrasOf(answers: readonly Json[], holder: 'message' | 'delta') {
  const held = answers
    .flatMap((answer) => (answer.choices ?? []) as Json[])
    .map((choice) => (choice[holder] ?? {}) as Json);
  const all = (field: string) => held.flatMap((one) => (one[field] ?? []) as Json[]);
  const details = all('reasoning_details');
  return {
    annotations: all('annotations'),
    signatures: details.map(({ signature }) => signature).filter((one) => typeof one === 'string'),
    encrypted: details.filter(({ type }) => type === 'reasoning.encrypted').map(({ data }) => data),
  };
}

function usageOf(events: readonly Json[]): unknown {
  return events.findLast(({ usage }) => usage)?.usage;
}

interface Counts {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  /** Mistral's. */
  num_cached_tokens?: number | null;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

function compareUsage(ours: unknown, theirs: unknown): void {
  const counts = (usage: Counts) => [
    usage.prompt_tokens,
    usage.completion_tokens,
    usage.total_tokens,
    usage.prompt_tokens_details?.cached_tokens ?? usage.num_cached_tokens ?? 0,
    usage.completion_tokens_details?.reasoning_tokens ?? 0,
  ];
  expect(counts(ours as Counts)).toEqual(counts(theirs as Counts));
}

function checkArguments(choices: ReturnType<typeof readSaidWhole>['choices']): void {
  for (const { calls } of Object.values(choices)) {
    for (const call of calls) {
      expect(call.id).not.toBe('');
      expect(() => JSON.parse(call.arguments)).not.toThrow();
    }
  }
}

/** At most 200: inside characters of several bytes and at the ends of events first, then evenly. */
function placesToCut(body: Uint8Array): number[] {
  const places = new Set<number>();
  const most = runs(60, 200);
  const inside = [...body.keys()].filter((at) => at > 0 && ((body[at] as number) & 0xc0) === 0x80);
  const ends = [...body.keys()]
    .filter((at) => body[at] === 10 && body[at + 1] === 10)
    .flatMap((at) => [at + 1, at + 2]);
  for (const [from, share] of [
    [inside, 0.4],
    [ends, 0.8],
    [[...body.keys()], 1],
  ] as const) {
    const room = Math.floor(most * share) - places.size;
    const step = Math.max(1, Math.ceil(from.length / Math.max(room, 1)));
    for (let at = 0; at < from.length; at += step) places.add(from[at] as number);
  }
  places.delete(0);
  return [...places].filter((at) => at < body.length);
}
