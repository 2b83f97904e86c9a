import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { StopSignal } from '../../base/stop.ts';
import type { ReplyEnd, ReplyStream } from '../../call/reply.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';

/** Shows records as they are made, to the clients that watch this instance. */
export interface LiveTail {
  /**
   * Never waits: a client that reads too slowly misses records, and is told how many.
   * @param show  the record as it is shown; called once at most, and only where somebody watches its workspace
   */
  publish(workspaceId: string, show: () => object): void;
  /** Records of a workspace did not get here. */
  missed(workspaceId: string, count: number): void;
  /** null: nobody watches. */
  watched(): WatchedWorkspaces | null;
  /**
   * A stream of events for one watcher.
   * @throws GatewayError rate_limited (429): there are as many watchers as may be
   */
  watch(wanted: Watched): ReplyStream;
  close(): void;
}

/** What clients watch. */
export interface WatchedWorkspaces {
  /** null: all workspaces. */
  workspaceIds: string[] | null;
}

export interface Watched {
  /** null: of all workspaces. */
  workspaceId: WorkspaceId | null;
  /** The stream ends after so many records. */
  limit: number;
  signal: StopSignal;
}

interface Watcher {
  workspaceId: WorkspaceId | null;
  take(text: string): void;
  miss(count: number): void;
  end(): void;
}

/** A comment after this silence, so that nobody takes the connection for dead. */
const silenceMs = 10_000;
const encoder = new TextEncoder();

export function createLiveTail(clock: Clock, { tailLength, tailWatchers }: RecordSettings): LiveTail {
  const watchers = new Set<Watcher>();
  const sees = (watcher: Watcher, workspaceId: string) =>
    watcher.workspaceId === null || watcher.workspaceId === workspaceId;

  return {
    publish(workspaceId, show) {
      let text: string | null = null;
      for (const watcher of watchers) {
        if (!sees(watcher, workspaceId)) continue;
        text ??= `event: generation\ndata: ${JSON.stringify(show())}\n\n`;
        watcher.take(text);
      }
    },
    missed(workspaceId, count) {
      for (const watcher of watchers) if (sees(watcher, workspaceId)) watcher.miss(count);
    },
    watched() {
      if (watchers.size === 0) return null;
      const wanted = new Set([...watchers].map(({ workspaceId }) => workspaceId));
      return { workspaceIds: wanted.has(null) ? null : ([...wanted].sort() as string[]) };
    },
    watch({ workspaceId, limit, signal }) {
      if (watchers.size >= tailWatchers)
        throw new GatewayError('rate_limited', 'As many clients watch the requests as may; try again later', {
          retryAfterMs: silenceMs,
        });
      let waiting: string[] = [];
      let dropped = 0;
      let left = limit;
      let isOver = false;
      let wake: (() => void) | null = null;
      let ended: ((end: ReplyEnd) => void) | null = null;
      let ending: ReplyEnd | null = null;

      const stop = (end: ReplyEnd) => {
        if (ending !== null) return;
        ending = end;
        isOver = true;
        watchers.delete(watcher);
        signal.removeEventListener('abort', onAbort);
        wake?.();
        ended?.(end);
      };
      // The time of the request is up, or its client has left.
      const onAbort = () => watcher.end();
      const watcher: Watcher = {
        workspaceId,
        take(text) {
          if (left === 0) return;
          if (waiting.length >= tailLength) dropped++;
          else {
            waiting.push(text);
            left--;
          }
          wake?.();
        },
        miss(count) {
          dropped += count;
          wake?.();
        },
        end() {
          isOver = true;
          watchers.delete(watcher);
          wake?.();
        },
      };
      watchers.add(watcher);
      signal.addEventListener('abort', onAbort, { once: true });
      let isFirst = true;

      /** What there is to send; null: nothing yet. */
      function next(): string | null {
        const missed = dropped > 0 ? `event: dropped\ndata: {"dropped":${dropped}}\n\n` : '';
        const text = waiting.join('') + missed;
        waiting = [];
        dropped = 0;
        return text === '' ? null : text;
      }

      return {
        async read() {
          if (isFirst) {
            isFirst = false;
            // Headers and the beginning at once: the client knows that it is connected.
            return encoder.encode(': watching\n\n');
          }
          if (waiting.length === 0 && dropped === 0 && !isOver && left > 0) {
            await new Promise<void>((resolve) => {
              const cancel = clock.after(silenceMs, resolve, { isIdle: true });
              wake = () => {
                cancel();
                resolve();
              };
            });
            wake = null;
          }
          const text = next();
          if (text !== null) return encoder.encode(text);
          if (!isOver && left > 0) return encoder.encode(': silence\n\n');
          stop('sent');
          return null;
        },
        cancel: () => stop('cancelled'),
        onEnd(listener) {
          ended = listener;
          if (ending !== null) listener(ending);
        },
      };
    },
    close() {
      for (const watcher of [...watchers]) watcher.end();
    },
  };
}
