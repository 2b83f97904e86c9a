import type { RecordSettings } from '../../schema/settings/records.ts';
import { writeLog } from '../../stores/storage/logger.ts';
import type { CallContent } from '../follow.ts';
import type { Logger, RequestRecord } from '../record.ts';
import { contentText } from './content.ts';

/** The contents that wait to be written beside their records. */
export interface ContentQueue {
  /** Adds a content. If too much waits, the workspace that has most waiting loses its oldest content. */
  add(record: RequestRecord, content: CallContent): void;
  take(record: RequestRecord): string | undefined;
  /** Counts a content that is not kept. */
  drop(): void;
  clear(): void;
}

/** The waiting contents of one workspace. */
interface Share {
  chars: number;
  /** By record, the oldest first. */
  texts: Map<RequestRecord, string>;
}

export function createContentQueue(
  logger: Logger | null,
  { maxContentChars, contentQueueChars }: Pick<RecordSettings, 'maxContentChars' | 'contentQueueChars'>,
): ContentQueue {
  const shares = new Map<string, Share>();
  let chars = 0;
  let dropped = 0;

  function drop(): void {
    dropped++;
    // One log line for each power of ten: drops must not fill the log.
    if (Number.isInteger(Math.log10(dropped)))
      writeLog(logger, 'warn', { dropped }, 'The content of requests is dropped: too much waits');
  }

  function take(record: RequestRecord): string | undefined {
    const share = shares.get(record.workspaceId);
    const text = share?.texts.get(record);
    if (share === undefined || text === undefined) return undefined;
    share.texts.delete(record);
    share.chars -= text.length;
    chars -= text.length;
    if (share.texts.size === 0) shares.delete(record.workspaceId);
    return text;
  }

  /** @returns true: there is room for so many more characters of a workspace */
  function makeRoom(workspaceId: string, more: number): boolean {
    if (more > contentQueueChars) return false;
    while (chars + more > contentQueueChars) {
      const own = (shares.get(workspaceId)?.chars ?? 0) + more;
      const largest = [...shares.values()].reduce((one, other) => (other.chars > one.chars ? other : one));
      const [oldest] = largest.texts.keys();
      // The workspace that would have most drops its own new content.
      if (largest.chars <= own || oldest === undefined) return false;
      take(oldest);
      drop();
    }
    return true;
  }

  return {
    add(record, content) {
      const text = contentText(content, maxContentChars);
      const { workspaceId } = record;
      if (!makeRoom(workspaceId, text.length)) return drop();
      const share = shares.get(workspaceId) ?? { chars: 0, texts: new Map<RequestRecord, string>() };
      shares.set(workspaceId, share);
      share.texts.set(record, text);
      share.chars += text.length;
      chars += text.length;
    },
    take,
    drop,
    clear() {
      shares.clear();
      chars = 0;
    },
  };
}
