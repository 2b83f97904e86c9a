import { describe, expect, it } from 'vitest';
import { Supervisor, type WorkerProcess } from '../../../adapters/cli/supervisor.ts';

/** A supervisor whose workers, clock and messages are in the hands of the test. */
function supervise(count = 2) {
  const workers: ReturnType<typeof fakeWorker>[] = [];
  const lines: string[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const clock = { nowMs: 0 };
  const supervisor = new Supervisor({
    count,
    drainMs: 10_000,
    fork() {
      const made = fakeWorker();
      workers.push(made);
      return made.worker;
    },
    nowMs: () => clock.nowMs,
    after(ms, run) {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    report: (line) => lines.push(line),
  });
  return { supervisor, workers, lines, timers, clock };
}

function fakeWorker() {
  let ready = (_url: string) => {};
  let exit = (_reason: string) => {};
  const stops: (number | null)[] = [];
  const worker: WorkerProcess = {
    onReady: (callback) => {
      ready = callback;
    },
    onExit: (callback) => {
      exit = callback;
    },
    stop: (drainMs) => void stops.push(drainMs),
  };
  return { worker, stops, ready: () => ready('http://x/v1'), exit: (reason = 'exit code 0') => exit(reason) };
}

async function started(count = 2) {
  const parts = supervise(count);
  const starting = parts.supervisor.start();
  for (const { ready } of parts.workers) ready();
  await starting;
  return parts;
}

const turn = () => new Promise(setImmediate);

describe('a supervisor', () => {
  it('starts all workers, and knows their address', async () => {
    const { supervisor, workers } = supervise(3);
    const starting = supervisor.start();
    expect(workers).toHaveLength(3);
    for (const { ready } of workers) ready();
    expect(await starting).toBe('http://x/v1');
  });

  it('fails to start where a worker does not come to serve, after the others have ended', async () => {
    const { supervisor, workers } = supervise(2);
    const starting = supervisor.start();
    let isOver = false;
    const over = starting.catch((error: Error) => {
      isOver = true;
      return error.message;
    });
    workers[0]?.ready();
    workers[1]?.exit('exit code 1');
    await turn();
    expect(workers[0]?.stops).toEqual([10_000]);
    expect(isOver).toBe(false);
    workers[0]?.exit();
    expect(await over).toBe('A worker ended before it served (exit code 1)');
  });

  it('replaces a worker that ends by itself, and waits longer each time it ends soon', async () => {
    const { workers, timers, lines, clock } = await started();
    const delays: (number | undefined)[] = [];
    workers[0]?.exit('SIGKILL');
    for (let i = 2; i < 13; i++) {
      delays.push(timers[0]?.ms);
      timers.shift()?.run();
      workers[i]?.exit('exit code 1');
      await turn();
    }
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    expect(lines[0]).toBe('A worker ended (SIGKILL): another one starts in 100 ms.');
    timers.shift()?.run();
    workers.at(-1)?.ready();
    await turn();
    clock.nowMs = 30_001;
    workers.at(-1)?.exit('SIGSEGV');
    expect(timers[0]?.ms).toBe(100);
  });

  it('restarts one worker after another: the old one goes when the new one serves, for as long as its streams take', async () => {
    const { supervisor, workers, lines } = await started();
    const restarting = supervisor.restart();
    expect(workers).toHaveLength(3);
    await turn();
    expect(workers[0]?.stops).toEqual([]);
    workers[2]?.ready();
    await turn();
    expect([workers[0]?.stops, workers[1]?.stops]).toEqual([[null], []]);
    workers[3]?.ready();
    await restarting;
    expect(workers[1]?.stops).toEqual([null]);
    // That they end is no accident: nobody replaces them.
    workers[0]?.exit();
    workers[1]?.exit();
    expect(workers).toHaveLength(4);
    expect(lines).toEqual(['Restarted 2 workers: each old one ends when its open streams have.']);
  });

  it('keeps the old workers where a new one does not come to serve', async () => {
    const { supervisor, workers, lines } = await started();
    const restarting = supervisor.restart();
    workers[2]?.exit('exit code 1');
    await restarting;
    expect(workers.map(({ stops }) => stops)).toEqual([[], [], []]);
    expect(lines).toEqual(['A new worker ended before it served (exit code 1): 2 workers go on as they were.']);
  });

  it('restarts once more where that is asked for during a restart', async () => {
    const { supervisor, workers } = await started(1);
    const restarting = supervisor.restart();
    void supervisor.restart();
    void supervisor.restart();
    workers[1]?.ready();
    await turn();
    workers[2]?.ready();
    await restarting;
    expect(workers.map(({ stops }) => stops)).toEqual([[null], [null], []]);
  });

  it('stops all workers, those of before a restart too, and starts none again', async () => {
    const { supervisor, workers, timers } = await started();
    workers[1]?.exit('SIGKILL');
    const restarting = supervisor.restart();
    workers[2]?.ready();
    await restarting;
    supervisor.stop();
    supervisor.stop(0);
    expect(workers[0]?.stops).toEqual([null, 10_000, 0]);
    expect(workers[2]?.stops).toEqual([10_000, 0]);
    expect(timers).toEqual([]);
    let hasEnded = false;
    void supervisor.ended.then(() => {
      hasEnded = true;
    });
    workers[0]?.exit();
    await turn();
    expect(hasEnded).toBe(false);
    workers[2]?.exit();
    await supervisor.ended;
    expect(workers).toHaveLength(3);
  });

  it('stops a worker that is only starting', async () => {
    const { supervisor, workers, timers } = await started(1);
    workers[0]?.exit('SIGKILL');
    timers.shift()?.run();
    supervisor.stop();
    expect(workers[1]?.stops).toEqual([10_000]);
    workers[1]?.exit();
    await supervisor.ended;
    expect(timers).toEqual([]);
  });
});
