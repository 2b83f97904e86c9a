import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { CallAborted } from '../../../../src/call/abort.ts';
import { ChoiceWatch } from '../../../../src/pipeline/stream/events.ts';
import { StreamProgress } from '../../../../src/pipeline/stream/progress.ts';
import type { ChatChunk } from '../../../../src/schema/chat/chunk.ts';

const chunk = (index: number, finishReason: 'stop' | null): ChatChunk => ({
  id: '',
  object: 'chat.completion.chunk',
  created: 0,
  model: '',
  choices: [{ index, delta: {}, finish_reason: finishReason }],
});
const upstream = new UpstreamError('reset', { reason: 'network', status: 502 });
const mistake = new Error('a mistake of ours');

/** What has happened before, for each phase; two choices were asked for. */
const phases = {
  'open, nothing begun': () => {},
  'open, one begun': (progress: StreamProgress) => progress.sawChunk(chunk(0, null)),
  'open, one finished': (progress: StreamProgress) => progress.sawChunk(chunk(0, 'stop')),
  trailing(progress: StreamProgress) {
    progress.sawChunk(chunk(0, 'stop'));
    progress.sawChunk(chunk(1, 'stop'));
  },
};
const events = {
  sentinel: (progress: StreamProgress) => progress.sawSentinel(),
  'an error of a choice': (progress: StreamProgress) => progress.sawError(upstream),
  'the end of the bytes': (progress: StreamProgress) => progress.sourceEnded(),
  'a broken connection, or an error event': (progress: StreamProgress) => progress.sourceFailed(upstream),
  'a mistake of ours': (progress: StreamProgress) => progress.sourceFailed(mistake),
  'the client leaves': (progress: StreamProgress) => progress.sourceFailed(new CallAborted('client_left')),
  'the deadline passes': (progress: StreamProgress) => progress.sourceFailed(new CallAborted('deadline')),
  'nobody reads on': (progress: StreamProgress) => progress.cancel(),
};

type Ends = Record<keyof typeof events, 'complete' | 'failed' | 'cancelled'>;
const unfinished: Ends = {
  sentinel: 'failed',
  'an error of a choice': 'failed',
  'the end of the bytes': 'failed',
  'a broken connection, or an error event': 'failed',
  'a mistake of ours': 'failed',
  'the client leaves': 'cancelled',
  'the deadline passes': 'failed',
  'nobody reads on': 'cancelled',
};
const table: Record<keyof typeof phases, Ends> = {
  'open, nothing begun': unfinished,
  'open, one begun': unfinished,
  // Some providers give fewer choices than were asked for. Their sentinel says that this is all.
  'open, one finished': { ...unfinished, sentinel: 'complete' },
  trailing: {
    ...unfinished,
    sentinel: 'complete',
    'the end of the bytes': 'complete',
    'a broken connection, or an error event': 'complete',
  },
};

describe('a stream', () => {
  const rows = Object.entries(table).flatMap(([phase, ends]) =>
    Object.entries(ends).map(([event, end]) => [phase, event, end] as const),
  );
  it.each(rows)('%s: %s makes it %s, whatever comes after', (phase, event, end) => {
    const progress = new StreamProgress(new ChoiceWatch(2));
    phases[phase as keyof typeof phases](progress);
    expect(progress.phase).toBe(phase.startsWith('open') ? 'open' : 'trailing');
    expect(progress.end).toBeNull();
    events[event as keyof typeof events](progress);
    expect([progress.phase, progress.end?.kind]).toEqual(['ended', end]);
    for (const later of Object.values(events)) later(progress);
    expect(progress.end?.kind).toBe(end);
  });
  it('is open again where another choice begins after all were finished', () => {
    const progress = new StreamProgress(new ChoiceWatch(1));
    progress.sawChunk(chunk(0, 'stop'));
    progress.sawChunk(chunk(1, null));
    expect(progress.phase).toBe('open');
  });
});
