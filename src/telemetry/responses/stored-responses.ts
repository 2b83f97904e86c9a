import type { Clock } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type StoredResponse,
  type StoredResponseEntry,
  sealedResponseSchema,
  storedResponseEntrySchema,
  storedResponseSchema,
} from '../../schema/records/stored-response.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import { createKeptSweeper } from '../kept-sweeper.ts';
import { openedOr } from '../opening.ts';
import type { ContentVault } from '../records/content.ts';
import { ownerOf, ownerText, storableId } from '../records/places.ts';
import { contentAt, entryAt, entryKind, removal, responseIndexAt, responseIndexKind } from './places.ts';

const unreadable =
  'The response cannot be read: it was sealed with a secret that is not configured any more, or was altered';

/** A response to keep, as JSON. */
export interface ResponseToKeep extends StoredResponseEntry {
  /** Id of the response, `gen-…`. */
  id: string;
  /** The response as an object. */
  response: string;
  /** The items of its input as a list. */
  input: string;
}

/** The kept responses of all workspaces. Every method rejects with GatewayError unavailable (503) without the store. */
export interface StoredResponses {
  /** The longest response that is kept, in characters, with its input. */
  readonly maxChars: number;
  /**
   * Keeps a response, sealed where there is a master key.
   * @returns false: it is too long, or its workspace is being deleted
   */
  keep(workspaceId: WorkspaceId, response: ResponseToKeep): Promise<boolean>;
  /** The workspace of an id, for a caller that manages all workspaces; null: no workspace has the id. */
  ownerOf(id: string): Promise<WorkspaceId | null>;
  /** @returns null: there is no such response in this workspace, or it has expired */
  find(workspaceId: WorkspaceId, id: string): Promise<FoundResponse | null>;
  /** Removes a response and its input. May be repeated. */
  remove(workspaceId: WorkspaceId, id: string): Promise<void>;
  /** Removes expired and surplus responses. Never rejects. */
  sweep(): Promise<void>;
  close(): void;
}

/** A kept response that was found. Whose it is, is known before it is opened. */
export interface FoundResponse extends StoredResponseEntry {
  /**
   * @throws GatewayError not_found (404): the secret that sealed it is not configured any more; internal (500) for a
   * damaged one; unavailable (503): the key service is out of reach
   */
  open(): Promise<StoredResponse>;
}

export interface StoredResponsesDeps {
  storage: Storage;
  vault: ContentVault;
  clock: Clock;
  settings: Pick<RecordSettings, 'responsesTtlMs' | 'maxResponses' | 'maxResponseChars'>;
}

export function createStoredResponses({ storage, vault, clock, settings }: StoredResponsesDeps): StoredResponses {
  const { responsesTtlMs: ttlMs, maxResponses: max, maxResponseChars: maxChars } = settings;
  const sweeper = createKeptSweeper(storage, clock, {
    entryKind,
    indexKind: responseIndexKind,
    ttlMs,
    max,
    async remove(workspaceId, found) {
      // A response is written once, so that what was found is still the same.
      const ids = 'ids' in found ? found.ids : found.records.map(({ id }) => id);
      await storage.commit(ids.flatMap((id) => removal(workspaceId, id)));
      return ids;
    },
  });

  async function textOf(workspaceId: WorkspaceId, { id, response, input }: ResponseToKeep): Promise<string> {
    const text = `{"response":${response},"input":${input}}`;
    return vault.isOpen ? JSON.stringify({ sealed: await vault.seal(text, { workspaceId, responseId: id }) }) : text;
  }

  async function opened(workspaceId: WorkspaceId, id: string, text: string | null): Promise<StoredResponse> {
    const stored = tryParseJson(text ?? '');
    const { data } = sealedResponseSchema().safeParse(stored);
    const clear = data
      ? tryParseJson(await openedOr(unreadable, () => vault.open(data.sealed, { workspaceId, responseId: id })))
      : stored;
    const found = storedResponseSchema().safeParse(clear);
    if (!found.success) throw damagedRecord(entryKind);
    return found.data;
  }

  return {
    maxChars,
    async keep(workspaceId, given) {
      const { id, response, input, at_ms, api_key_hash, user_id } = given;
      // Only a host app's own `ids` makes an id that cannot be stored.
      if (!storableId.test(id) || response.length + input.length > maxChars) return false;
      const content = await textOf(workspaceId, given);
      const index: Change = { at: responseIndexAt(id), value: ownerText(workspaceId, at_ms), rank: at_ms };
      // The index goes first: a response without an index entry would never expire.
      await storage.commit([index]);
      const entry: StoredResponseEntry = { at_ms, api_key_hash, user_id };
      const isThere = await storage.commit([
        { at: entryAt(workspaceId, id), value: JSON.stringify(entry), rank: -at_ms },
        { at: contentAt(workspaceId, id), value: content },
        unlessDeleted(workspaceId),
      ]);
      if (isThere) sweeper.wrote(workspaceId);
      else await storage.commit([{ at: index.at, value: null }]);
      return isThere;
    },
    async ownerOf(id) {
      if (!storableId.test(id)) return null;
      const text = await storage.get(responseIndexAt(id));
      return text === null ? null : ownerOf(text).workspaceId;
    },
    async find(workspaceId, id) {
      if (!storableId.test(id)) return null;
      sweeper.begin();
      const at = [entryAt(workspaceId, id), contentAt(workspaceId, id)];
      const [text = null, content = null] = await storage.getMany(at);
      if (text === null) return null;
      const entry = storedResponseEntrySchema().safeParse(tryParseJson(text));
      if (!entry.success) throw damagedRecord(entryKind);
      if (entry.data.at_ms < clock.now() - ttlMs) return null;
      return { ...entry.data, open: () => opened(workspaceId, id, content) };
    },
    async remove(workspaceId, id) {
      // The content goes first: where this is broken off, the sweeper removes what is left.
      await storage.commit(removal(workspaceId, id));
      await storage.commit([{ at: responseIndexAt(id), value: null }]);
    },
    sweep: sweeper.sweep,
    close: sweeper.close,
  };
}

/** The number of responses that one step removes. */
const step = 200;

/** Removes all kept responses of a workspace, also where none are kept any longer. May be repeated. */
export async function deleteStoredResponses(storage: Storage, workspaceId: WorkspaceId): Promise<void> {
  for (;;) {
    const { records } = await storage.list(workspaceId, entryKind, { offset: 0, limit: step });
    if (records.length === 0) return;
    await storage.commit(records.map(({ id }): Change => ({ at: responseIndexAt(id), value: null })));
    await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
  }
}
