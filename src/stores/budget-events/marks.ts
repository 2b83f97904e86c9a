import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { perWorkspace } from '../collection.ts';
import { unlessDeleted } from '../deletion.ts';
import type { LimitedWindow } from '../ledger/ledger.ts';
import type { Storage } from '../storage/storage.ts';

/** Remembers which events were raised, so that several instances raise each event once. */
export interface EventMarks {
  /**
   * @param percent  the per cent of the limit that the spending has reached
   * @returns the per cent up to which events were raised before; `Infinity`: a later window has begun, or the workspace
   *          is deleted
   * @throws GatewayError unavailable (503)
   */
  reach(workspaceId: WorkspaceId, window: LimitedWindow, percent: number): Promise<number>;
  /**
   * Marks the refusal of a request. @returns false: the event of a refusal was raised before
   * @throws GatewayError unavailable (503)
   */
  refuse(workspaceId: WorkspaceId, window: LimitedWindow): Promise<boolean>;
  /** Removes the marks of a deleted workspace. @throws GatewayError unavailable (503) */
  forget(workspaceId: WorkspaceId): Promise<void>;
}

const kind = 'budget-event';

/** The mark of one limit, for its latest window. A new window replaces the mark, so marks do not grow in number. */
const markSchema = lazily(() =>
  z.strictObject({
    startMs: z.int(),
    limitNanoUsd: z.int(),
    /** The per cent up to which events were raised; 0: no event was raised. */
    percent: z.int(),
    /** true: the event of a refusal was raised. */
    isRefused: z.boolean(),
  }),
);
type Mark = z.infer<ReturnType<typeof markSchema>>;

/** The number of records that one step of a deletion removes. */
const batch = 100;

export function createEventMarks(storage: Storage): EventMarks {
  const records = perWorkspace<Mark>({ storage, kind, schema: markSchema });

  /** Changes a mark and returns the mark from before; null: the mark is of a later window. */
  async function change(
    workspaceId: WorkspaceId,
    { account, interval, startMs, limitNanoUsd }: LimitedWindow,
    edit: (mark: Mark) => Mark,
  ): Promise<Mark | null> {
    const id = `${interval}.${account.replaceAll(':', '.')}`;
    const collection = records(workspaceId);
    const none: Mark = { startMs, limitNanoUsd, percent: 0, isRefused: false };
    // Another instance may write the first mark between two of these steps; a workspace that is deleted takes none.
    for (let race = 0; race < 20; race++) {
      let before: Mark | null = null;
      const found = await collection.update(id, (mark) => {
        before = mark.startMs > startMs ? null : startsAnew(mark) ? none : mark;
        return before === null ? mark : edit(before);
      });
      if (found !== null) return before;
      if (await collection.create(id, edit(none), { rank: 0, also: [unlessDeleted(workspaceId)] })) return none;
    }
    return null;

    function startsAnew(mark: Mark): boolean {
      return mark.startMs < startMs || (mark.startMs === startMs && mark.limitNanoUsd !== limitNanoUsd);
    }
  }

  return {
    async reach(workspaceId, window, percent) {
      const before = await change(workspaceId, window, (mark) => ({
        ...mark,
        percent: Math.max(mark.percent, percent),
      }));
      return before?.percent ?? Number.POSITIVE_INFINITY;
    },
    async refuse(workspaceId, window) {
      const before = await change(workspaceId, window, (mark) => ({ ...mark, isRefused: true }));
      return before?.isRefused === false;
    },
    async forget(workspaceId) {
      for (;;) {
        const { records: listed } = await storage.list(workspaceId, kind, { offset: 0, limit: batch });
        if (listed.length === 0) return;
        await storage.commit(listed.map(({ id }) => ({ at: { partition: workspaceId, kind, id }, value: null })));
      }
    },
  };
}
