import { describe, expect, it } from 'vitest';
import { StopSwitch } from '../../../../src/base/async/stop.ts';
import { CallAborted } from '../../../../src/call/abort.ts';
import type { ReplyEnd } from '../../../../src/call/reply.ts';
import { ClientSource, type Delivered } from '../../../../src/pipeline/deliver/client-source.ts';
import { manualClock } from '../../../support/manual-clock.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (buffer: Uint8Array | null) => (buffer === null ? null : new TextDecoder().decode(buffer));

/** A delivery whose pulls are answered by hand. */
function scripted() {
  const pulls: { resolve: (buffer: Uint8Array | null) => void; reject: (error: unknown) => void }[] = [];
  let stops = 0;
  const cuts: unknown[] = [];
  const delivered: Delivered = {
    next: () => new Promise((resolve, reject) => pulls.push({ resolve, reject })),
    stop: () => void stops++,
    cut: (reason) => {
      cuts.push(reason);
      return bytes('cut');
    },
  };
  return { delivered, pulls, cuts, stops: () => stops };
}

function sourceOf(opening: Delivered | Promise<Delivered>, failed: (error: unknown) => string | null = () => 'failed') {
  const clock = manualClock();
  const signal = new StopSwitch();
  const keepAlive = { firstMs: 100, everyMs: 100 };
  const source = new ClientSource({ clock, keepAlive, comment: ':\n\n', signal, opening, failed });
  const ends: ReplyEnd[] = [];
  source.onEnd((end) => ends.push(end));
  return { clock, signal, source, ends };
}

describe('the body of a streamed reply', () => {
  it('idle: a read fetches; bytes answer it; no bytes are fetched ahead', async () => {
    const { delivered, pulls } = scripted();
    const { source } = sourceOf(delivered);
    expect(pulls).toHaveLength(0);
    const read = source.read();
    pulls[0]?.resolve(bytes('a'));
    expect(text(await read)).toBe('a');
    expect(pulls).toHaveLength(1);
  });
  it('fetching: empty bytes are no answer; the end ends it, once', async () => {
    const { delivered, pulls } = scripted();
    const { source, ends } = sourceOf(delivered);
    const read = source.read();
    pulls[0]?.resolve(bytes(''));
    await Promise.resolve();
    await Promise.resolve();
    pulls[1]?.resolve(null);
    expect(await read).toBeNull();
    expect(ends).toEqual(['sent']);
    expect(await source.read()).toBeNull();
    source.cancel();
    expect(ends).toEqual(['sent']);
  });
  it('idle: the deadline cuts it, and the next read fails', async () => {
    const { delivered, cuts } = scripted();
    const { source, signal, ends } = sourceOf(delivered);
    const told: unknown[] = [];
    source.onCut((error) => told.push(error));
    const reason = new CallAborted('deadline');
    signal.abort(reason);
    expect([cuts, ends]).toEqual([[reason], ['sent']]);
    expect(told).toMatchObject([{ status: 408 }]);
    await expect(source.read()).rejects.toBe(told[0]);
  });
  it('idle: closing the gateway ends it, and the next read is told so', async () => {
    const { delivered, cuts } = scripted();
    const { source, signal, ends } = sourceOf(delivered);
    const reason = new CallAborted('closing');
    signal.abort(reason);
    expect([cuts, ends]).toEqual([[reason], ['sent']]);
    expect([text(await source.read()), await source.read()]).toEqual(['cut', null]);
  });
  it('fetching: a reader that waits hears of the deadline by what it reads', async () => {
    const { delivered, pulls, cuts } = scripted();
    const { source, signal } = sourceOf(delivered);
    const read = source.read();
    signal.abort(new CallAborted('deadline'));
    pulls[0]?.resolve(bytes('an error event'));
    expect([text(await read), cuts]).toEqual(['an error event', []]);
  });
  it('fetching: a reader that was given a comment does not wait any more, and is cut off', async () => {
    const { delivered, pulls, cuts } = scripted();
    const { source, signal, clock, ends } = sourceOf(delivered);
    const read = source.read();
    await clock.advance(100);
    expect(text(await read)).toBe(':\n\n');
    signal.abort(new CallAborted('deadline'));
    pulls[0]?.resolve(null);
    expect([cuts.length, ends]).toEqual([1, ['sent']]);
    await expect(source.read()).rejects.toMatchObject({ status: 408 });
  });
  it('fetching: silence is answered by a comment, and the bytes by the next read', async () => {
    const { delivered, pulls } = scripted();
    const { source, clock } = sourceOf(delivered);
    const read = source.read();
    await clock.advance(100);
    expect(text(await read)).toBe(':\n\n');
    pulls[0]?.resolve(bytes('late'));
    await Promise.resolve();
    await Promise.resolve();
    await clock.advance(100);
    expect(text(await source.read())).toBe('late');
    expect(pulls).toHaveLength(1);
  });
  it('fetching: a failure breaks it, for this read and those after it', async () => {
    const { delivered, pulls } = scripted();
    const { source, ends } = sourceOf(delivered);
    const read = source.read();
    pulls[0]?.reject(new Error('broke'));
    await expect(read).rejects.toThrow('broke');
    await expect(source.read()).rejects.toThrow('broke');
    expect(ends).toEqual(['sent']);
  });
  it.each(['idle', 'fetching'])('%s: cancelling ends it, stops the delivery, and says so', async (state) => {
    const { delivered, stops } = scripted();
    const { source, ends } = sourceOf(delivered);
    const read = state === 'fetching' ? source.read() : null;
    source.cancel();
    source.cancel();
    expect([stops(), ends]).toEqual([1, ['cancelled']]);
    if (read !== null) expect(await read).toBeNull();
    expect(await source.read()).toBeNull();
  });
  it('the client leaves: a read that waits fails with its reason, and the delivery is stopped', async () => {
    const { delivered, stops } = scripted();
    const { source, signal, ends } = sourceOf(delivered);
    const read = source.read();
    signal.abort(new CallAborted('client_left', new Error('closed')));
    await expect(read).rejects.toThrow('closed');
    expect([stops(), ends]).toEqual([1, ['sent']]);
  });
  it('the deadline passes: the delivery itself says so', async () => {
    const { delivered, pulls, stops } = scripted();
    const { source, signal } = sourceOf(delivered);
    const read = source.read();
    signal.abort(new CallAborted('deadline'));
    pulls[0]?.resolve(bytes('an error event'));
    expect(text(await read)).toBe('an error event');
    expect(stops()).toBe(0);
  });
  it('opening: begins with a comment, then what was opened', async () => {
    const { delivered, pulls } = scripted();
    const { source } = sourceOf(Promise.resolve(delivered));
    expect(text(await source.read())).toBe(':\n\n');
    const read = source.read();
    await Promise.resolve();
    await Promise.resolve();
    pulls[0]?.resolve(bytes('a'));
    expect(text(await read)).toBe('a');
  });
  it('opening: a failure is delivered as frames, and is the end', async () => {
    const { source, ends } = sourceOf(Promise.reject(new Error('nobody could serve')));
    expect(text(await source.read())).toBe(':\n\n');
    expect(text(await source.read())).toBe('failed');
    expect(await source.read()).toBeNull();
    expect(ends).toEqual(['sent']);
  });
  it('opening: a failure that nobody is to read breaks it, also when it is thrown', async () => {
    {
      const failed = () => null;
      const { source } = sourceOf(Promise.reject(new Error('closed')), failed);
      await source.read();
      await expect(source.read()).rejects.toThrow('closed');
    }
    const { source } = sourceOf(Promise.reject(new Error('first')), () => {
      throw new Error('instead');
    });
    await source.read();
    await expect(source.read()).rejects.toThrow('instead');
  });
  it('opening: what opens after the client has left is stopped', async () => {
    const { delivered, stops } = scripted();
    let open: (late: Delivered) => void = () => undefined;
    const { source } = sourceOf(new Promise((resolve) => (open = resolve)));
    source.cancel();
    open(delivered);
    await Promise.resolve();
    await Promise.resolve();
    expect(stops()).toBe(1);
  });
  it('says its end also to whoever listens later', () => {
    const { delivered } = scripted();
    const { source } = sourceOf(delivered);
    source.cancel();
    const late: ReplyEnd[] = [];
    source.onEnd((end) => late.push(end));
    expect(late).toEqual(['cancelled']);
  });
});
