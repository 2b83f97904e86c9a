import cluster, { type Worker } from 'node:cluster';
import process from 'node:process';
import type { WorkerProcess } from './supervisor.ts';

/** A message of the supervisor to a worker. */
interface StopMessage {
  kind: 'stop';
  /** null: open streams may take as long as they do. */
  drainMs: number | null;
}

/** A message of a worker to its supervisor. */
interface ReadyMessage {
  kind: 'ready';
  url: string;
}

/** The interface of a worker to its supervisor. */
export interface Supervised {
  /** Says that the worker serves this address. */
  ready(url: string): void;
  /** Calls back each time the supervisor asks the worker to stop. */
  onStop(callback: (drainMs: number | null) => void): void;
}

/** The time after the cut of its streams at which a worker that has not ended is killed. */
const killAfterMs = 5000;

/**
 * Starts this command once more, as a worker. All workers share one port: Node's cluster hands out the connections.
 * @param graceMs  how long the worker goes on taking requests when it is to stop
 */
export function forkWorker(env: Readonly<Record<string, string | undefined>>, graceMs: number): WorkerProcess {
  const worker = cluster.fork(env);
  let asked: StopMessage | null = null;
  return {
    onReady(callback) {
      worker.on('message', (message: ReadyMessage) => {
        if (message.kind !== 'ready') return;
        // A worker that is only starting does not listen yet.
        if (asked !== null) tell(worker, asked);
        callback(message.url);
      });
    },
    onExit(callback) {
      worker.once('exit', (code, signal) => callback(signal ?? `exit code ${code}`));
    },
    stop(drainMs) {
      asked = { kind: 'stop', drainMs };
      tell(worker, asked);
      if (drainMs === null) return;
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), graceMs + drainMs + killAfterMs);
      worker.once('exit', () => clearTimeout(timer));
    },
  };
}

function tell(worker: Worker, message: StopMessage): void {
  // It may be ending just now. Without the callback, the error of sending would be thrown.
  if (worker.isConnected()) worker.send(message, () => {});
}

/** null: this process is no worker. */
export function supervised(): Supervised | null {
  if (!cluster.isWorker) return null;
  return {
    ready: (url) => void process.send?.({ kind: 'ready', url } satisfies ReadyMessage),
    onStop(callback) {
      process.on('message', (message: StopMessage) => {
        if (message.kind === 'stop') callback(message.drainMs);
      });
    },
  };
}
