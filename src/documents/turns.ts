import { GatewayError } from '../base/errors.ts';

/** The workspace of a document, and its settings for the turn. */
export interface Turn {
  /** The workspace. Several workspaces take turns. */
  workspaceId: string;
  /** The most documents of the workspace that may wait. Default 100. */
  maxWaiting?: number;
  /** Called when the document has to wait. */
  onWait?: () => void;
  /** Called when the reading begins. */
  onStart?: () => void;
}

/** The default for the documents that may wait. */
export const defaultMaxWaiting = 100;

/**
 * The time after which a workspace with waiting documents may try again: one of its documents is read earlier than
 * that.
 */
const retryAfterMs = 5_000;

interface Waiting {
  begin: () => void;
}

interface Place {
  running: number;
  waiting: Set<Waiting>;
}

export interface TurnLimits {
  /** The most works that run at a time. */
  running: number;
  /** The most works of one workspace. If it is less than all, no workspace can keep the others from their turn. */
  runningOfWorkspace: number;
}

/**
 * Runs work in turn: one work of each waiting workspace, however many works each has.
 * @returns a function that runs work in its turn. It throws GatewayError rate_limited (429) if too many works of the
 *          workspace wait, and the reason of the signal as soon as it is aborted before the work has begun
 */
export function turns({ running: most, runningOfWorkspace }: TurnLimits) {
  /** The workspaces in the order of their turns. */
  const places = new Map<string, Place>();
  let running = 0;

  function beginNext(): void {
    while (running < most) {
      const next = nextWorkspace();
      if (next === null) return;
      const place = places.get(next) as Place;
      const [first] = place.waiting as Set<Waiting> & [Waiting];
      place.waiting.delete(first);
      place.running++;
      running++;
      first.begin();
    }
  }

  function nextWorkspace(): string | null {
    for (const [workspaceId, { waiting, running: its }] of places)
      if (waiting.size > 0 && its < runningOfWorkspace) return workspaceId;
    return null;
  }

  /** Moves a workspace behind all others, also behind those that have come since. */
  function toEnd(workspaceId: string, place: Place): void {
    places.delete(workspaceId);
    if (place.running > 0 || place.waiting.size > 0) places.set(workspaceId, place);
  }

  return async function inTurn<T>(turn: Turn, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const { workspaceId, maxWaiting = defaultMaxWaiting, onWait, onStart } = turn;
    const place: Place = places.get(workspaceId) ?? { running: 0, waiting: new Set() };
    const isFree = running < most && place.running < runningOfWorkspace;
    if (!isFree && place.waiting.size >= maxWaiting)
      throw new GatewayError(
        'rate_limited',
        `${maxWaiting} documents of the workspace wait to be read: send fewer at a time`,
        {
          retryAfterMs,
        },
      );
    places.set(workspaceId, place);
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        place.waiting.delete(waiting);
        if (place.running === 0 && place.waiting.size === 0) places.delete(workspaceId);
        reject(signal.reason);
      };
      const waiting = {
        begin() {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      place.waiting.add(waiting);
      beginNext();
      if (place.waiting.has(waiting)) onWait?.();
    });
    try {
      signal.throwIfAborted();
      onStart?.();
      return await work();
    } finally {
      place.running--;
      running--;
      toEnd(workspaceId, place);
      beginNext();
    }
  };
}
