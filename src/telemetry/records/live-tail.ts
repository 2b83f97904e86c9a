import type { StopSignal } from '../../base/async/stop.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { ReplyEnd, ReplyStream } from '../../call/reply.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';

/** Shows records as they are made, to the clients that watch this instance. */
export interface LiveTail {
  /**
   * Shows a record. Never waits: a client that reads too slowly misses records, and gets the number of missed ones.
   * @param show  makes the record's shown form; called at most once, and only if a client watches its workspace
   */
  publish(workspaceId: string, show: () => object): void;
  /** Counts records of a workspace that did not get here. */
  missed(workspaceId: string, count: number): void;
  /** The watched workspaces; null: no client watches. */
  watched(): WatchedWorkspaces | null;
  /**
   * Makes a stream of events for one watcher.
   * @throws GatewayError rate_limited (429): its group has as many watchers as may be, or all places are taken and the
   * group has its share of them. If the group has fewer, the newest watcher of the largest group ends for it
   */
  watch(wanted: Watched): ReplyStream;
  close(): void;
}

/** The workspaces that clients watch. */
export interface WatchedWorkspaces {
  /** null: all workspaces. */
  workspaceIds: string[] | null;
}

export interface Watched {
  /**
   * The group that gives its place: the workspace of the caller; null: operators. Groups cannot take each other's
   * places.
   */
  group: WorkspaceId | null;
  /** null: records of all workspaces. */
  workspaceId: WorkspaceId | null;
  /** The number of records after which the stream ends. */
  limit: number;
  signal: StopSignal;
}

interface Watcher {
  group: WorkspaceId | null;
  workspaceId: WorkspaceId | null;
  take(text: string): void;
  miss(count: number): void;
  end(): void;
  /** Ends with an error event: a group that has fewer watchers gets its place. */
  giveUp(): void;
}

/** After this time without an event, a comment is sent, so that nobody takes the connection for dead. */
const silenceMs = 10_000;
const encoder = new TextEncoder();

export function createLiveTail(clock: Clock, settings: RecordSettings): LiveTail {
  const { tailLength, tailChars, tailWatchers, tailWatchersOfWorkspace } = settings;
  /** The watchers, the oldest first. */
  const watchers = new Set<Watcher>();
  const sees = (watcher: Watcher, workspaceId: string) =>
    watcher.workspaceId === null || watcher.workspaceId === workspaceId;

  function makeRoom(group: WorkspaceId | null): void {
    const groups = Map.groupBy(watchers, (watcher) => watcher.group);
    const own = groups.get(group)?.length ?? 0;
    if (own >= tailWatchersOfWorkspace)
      throw tooMany(`As many clients of one workspace watch the requests as may: ${tailWatchersOfWorkspace}`);
    if (watchers.size < tailWatchers) return;
    const largest = [...groups.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
    // Otherwise two groups would take the place from each other for ever.
    if (largest.length <= own + 1) throw tooMany('As many clients watch the requests as may');
    largest.at(-1)?.giveUp();
  }

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
    watch({ group, workspaceId, limit, signal }) {
      makeRoom(group);
      let waiting: string[] = [];
      let waitingChars = 0;
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
      // The request has timed out, or its client has left.
      const onAbort = () => watcher.end();
      const watcher: Watcher = {
        group,
        workspaceId,
        take(text) {
          if (left === 0) return;
          if (waiting.length >= tailLength || waitingChars + text.length > tailChars) dropped++;
          else {
            waiting.push(text);
            waitingChars += text.length;
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
        giveUp() {
          const { message } = tooMany('The place is needed by others who have fewer');
          // Added beyond the limit of waiting events, so that it is never dropped.
          waiting.push(`event: error\ndata: ${JSON.stringify({ error: { code: 429, message } })}\n\n`);
          watcher.end();
        },
      };
      watchers.add(watcher);
      signal.addEventListener('abort', onAbort, { once: true });
      let isFirst = true;

      /** The text to send; null: there is none yet. */
      function next(): string | null {
        const missed = dropped > 0 ? `event: dropped\ndata: {"dropped":${dropped}}\n\n` : '';
        const text = waiting.join('') + missed;
        waiting = [];
        waitingChars = 0;
        dropped = 0;
        return text === '' ? null : text;
      }

      return {
        async read() {
          if (isFirst) {
            isFirst = false;
            // Sends headers and the beginning at once: the client knows that it is connected.
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

function tooMany(what: string): GatewayError {
  return new GatewayError('rate_limited', `${what}; try again later`, { retryAfterMs: silenceMs });
}
