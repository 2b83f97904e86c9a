import { expect, it, vi } from 'vitest';
import { chatFormats, recordingsOf, responsesFormat } from '../support/recorded-formats.ts';
import { chunksOf, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { type Replay, replayGateway } from '../support/replay.ts';
import { joinMessage, type SaidInTurn, saidInCompletion, saidInMessage } from '../support/said-messages.ts';
import { joinChat } from '../support/said-responses.ts';

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

/** What the recordings hold, so that saying the same says something. */
const held = { thinking: 0, calls: 0, cached: 0, cut: 0, failed: 0, complete: 0 };

for (const format of [...chatFormats, responsesFormat]) {
  describeWithShared(`recordings of ${format.name}, as messages`, () => {
    const replay = replayGateway({ provider: format.provider });
    it.each(recordingsOf(format).map((one) => [one.name, one] as const))(
      '%s says what its chat completion says, as JSON and as a stream',
      async (_, one) => {
        for (const stream of [false, true]) await check(replay, one, stream);
      },
    );
  });
}

describeWithShared('the recordings that are checked as messages', () => {
  it('hold every kind of content and of end', () => {
    expect(Object.entries(held).filter(([, times]) => times === 0)).toEqual([]);
  });
});

async function check(replay: Replay, { status, headers, body }: Recording, stream: boolean): Promise<void> {
  const upstream = { status, headers, pieces: [body] };
  const chat = await replay.send(upstream, { stream });
  const answer = await replay.message(upstream, { stream });
  expect(answer.status).toBe(chat.status);
  if (chat.status !== 200) {
    const { type, error } = JSON.parse(answer.text);
    expect([type, error.message]).toEqual(['error', JSON.parse(chat.text).error.message]);
    held.failed++;
    return;
  }
  if (!stream) return same(saidInMessage(JSON.parse(answer.text)), saidInCompletion(JSON.parse(chat.text)));
  const chunks = chunksOf(chat.text);
  const { message, error } = joinMessage(answer.text);
  const broken = chunks.at(-1)?.error as { message: string } | undefined;
  expect(error?.message ?? null).toBe(broken?.message ?? null);
  if (broken !== undefined) held.cut++;
  else same(saidInMessage(message), saidInCompletion(joinChat(chunks)));
}

/** Text between thoughts is one text in a chat completion, and blank lines may stand in it. */
const bare = (text: string) => text.replaceAll(/\s/g, '');

function same(said: SaidInTurn, expected: SaidInTurn): void {
  const shown = ({ text, thinking, calls, ...rest }: SaidInTurn) => ({
    ...rest,
    text: bare(text),
    thinking: bare(thinking),
    calls: calls.map(({ id, name, input }) => ({ id, name, input: isOddInput(input) ? 'no object' : input })),
  });
  expect(shown(said)).toEqual(shown(expected));
  held.complete++;
  if (said.thinking !== '') held.thinking++;
  if (said.calls.length > 0) held.calls++;
  if (said.usage.cached > 0) held.cached++;
}

/** Arguments that are no object, in the object that stands for them. */
function isOddInput(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return true;
  const keys = Object.keys(input);
  return keys.length === 1 && (keys[0] === 'invalid_json' || keys[0] === 'value');
}
