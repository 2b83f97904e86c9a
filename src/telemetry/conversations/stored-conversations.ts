import { createLock } from '../../base/async/lock.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type ConversationContent,
  type StoredConversationEntry,
  storedConversationEntrySchema,
} from '../../schema/records/stored-conversation.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import { createKeptSweeper, type Swept } from '../kept-sweeper.ts';
import type { ContentVault } from '../records/content.ts';
import { ownerOf, ownerText, storableId } from '../records/places.ts';
import { contentAt, conversationIndexAt, conversationIndexKind, entryAt, entryKind } from './places.ts';
import { conversationReader, mostTries, type OpenConversation, tooBusy } from './read-conversation.ts';

export type { OpenConversation } from './read-conversation.ts';

/** A conversation to make. */
export interface NewConversation extends Pick<StoredConversationEntry, 'api_key_hash' | 'user_id'> {
  /** Id of the conversation, `conv_…`. */
  id: string;
  content: ConversationContent;
}

/**
 * The conversations of all workspaces. Every method rejects with GatewayError unavailable (503) without the store, and
 * for a content with not_found (404) where the secret that sealed it is not configured any more, internal (500) where
 * it is damaged.
 */
export interface StoredConversations {
  /**
   * Checks that items fit into a conversation.
   * @param chars  of the items as JSON
   * @throws GatewayError payload_too_large (413)
   */
  checkRoom(conversation: OpenConversation, items: number, chars: number): void;
  /**
   * Makes a conversation, sealed where there is a master key.
   * @returns null: its workspace is being deleted
   * @throws GatewayError payload_too_large (413)
   */
  create(workspaceId: WorkspaceId, conversation: NewConversation): Promise<StoredConversationEntry | null>;
  /** The workspace of an id, for a caller that manages all workspaces; null: no workspace has the id. */
  ownerOf(id: string): Promise<WorkspaceId | null>;
  /** @returns null: there is no such conversation in this workspace, or it has expired */
  find(workspaceId: WorkspaceId, id: string): Promise<FoundConversation | null>;
  /**
   * Changes a conversation. Several changes at the same time happen one after the other: none is lost.
   * @param make  returns the new content, of the content as it is. It may be called several times, and may throw
   * @returns the conversation as it is then; null: it is gone, or its workspace is being deleted
   * @throws GatewayError payload_too_large (413); what `make` throws
   */
  change(
    workspaceId: WorkspaceId,
    id: string,
    make: (content: ConversationContent) => ConversationContent,
  ): Promise<OpenConversation | null>;
  /** Removes a conversation and its items. May be repeated. */
  remove(workspaceId: WorkspaceId, id: string): Promise<void>;
  /** Removes expired and surplus conversations. Never rejects. */
  sweep(): Promise<void>;
  close(): void;
}

/** A conversation that was found. Whose it is, is known before it is opened. */
export interface FoundConversation extends StoredConversationEntry {
  open(): Promise<ConversationContent>;
}

export interface StoredConversationsDeps {
  storage: Storage;
  vault: ContentVault;
  clock: Clock;
  settings: Pick<
    RecordSettings,
    'conversationsTtlMs' | 'maxConversations' | 'maxConversationItems' | 'maxConversationChars'
  >;
}

export function createStoredConversations(deps: StoredConversationsDeps): StoredConversations {
  const { storage, vault, clock, settings } = deps;
  const { conversationsTtlMs: ttlMs } = settings;
  const { read, opened, openNow } = conversationReader({ storage, vault, clock, ttlMs });
  const lock = createLock();
  const sweeper = createKeptSweeper(storage, clock, {
    entryKind,
    indexKind: conversationIndexKind,
    ttlMs,
    max: settings.maxConversations,
    remove: (workspaceId, found) => removeUnchanged(storage, workspaceId, found),
  });

  async function changeTo(
    workspaceId: WorkspaceId,
    id: string,
    content: ConversationContent,
    before: Omit<StoredConversationEntry, 'chars'>,
  ): Promise<{ entry: StoredConversationEntry; changes: Change[] }> {
    const text = JSON.stringify(content);
    checkBounds(content.items.length, text.length, settings);
    const revision = before.revision + 1;
    const stored = vault.isOpen
      ? { revision, sealed: await vault.seal(text, { workspaceId, conversationId: id }) }
      : { revision, content };
    // The clocks of two instances may differ.
    const at_ms = Math.max(before.at_ms, Math.floor(clock.now()));
    const entry: StoredConversationEntry = { ...before, at_ms, revision, chars: text.length };
    return {
      entry,
      changes: [
        { at: entryAt(workspaceId, id), value: JSON.stringify(entry), rank: -at_ms },
        { at: contentAt(workspaceId, id), value: JSON.stringify(stored) },
        unlessDeleted(workspaceId),
      ],
    };
  }

  /** Writes the index, which goes first: a conversation without an index entry would never expire. */
  async function noteIndex(workspaceId: WorkspaceId, id: string, atMs: number): Promise<void> {
    await storage.commit([{ at: conversationIndexAt(id), value: ownerText(workspaceId, atMs), rank: atMs }]);
  }

  async function changeOnce(
    workspaceId: WorkspaceId,
    id: string,
    make: (content: ConversationContent) => ConversationContent,
  ): Promise<OpenConversation | null> {
    let latest: string | null = null;
    for (let tries = 0; tries < mostTries; tries++) {
      const found = await openNow(workspaceId, id);
      // Nobody has changed the entry since: it is the workspace that takes nothing new.
      if (found === null || found.text === latest) return null;
      const content = make(found.content);
      const { entry, changes } = await changeTo(workspaceId, id, content, found.entry);
      await noteIndex(workspaceId, id, entry.at_ms);
      const [first, ...others] = changes as [Change, ...Change[]];
      if (await storage.commit([{ ...first, expect: found.text }, ...others])) {
        sweeper.wrote(workspaceId);
        return { entry, content };
      }
      latest = found.text;
    }
    throw tooBusy();
  }

  return {
    checkRoom: ({ entry, content }, items, chars) =>
      checkBounds(content.items.length + items, entry.chars + chars, settings),
    async create(workspaceId, { id, content, api_key_hash, user_id }) {
      const at_ms = Math.floor(clock.now());
      const before = { api_key_hash, user_id, at_ms, created_at_ms: at_ms, revision: 0 };
      const { entry, changes } = await changeTo(workspaceId, id, content, before);
      await noteIndex(workspaceId, id, at_ms);
      const [first, ...others] = changes as [Change, ...Change[]];
      if (!(await storage.commit([{ ...first, expect: null }, ...others]))) {
        // Another one with this id keeps its index.
        if ((await storage.get(entryAt(workspaceId, id))) === null)
          await storage.commit([{ at: conversationIndexAt(id), value: null }]);
        return null;
      }
      sweeper.wrote(workspaceId);
      return entry;
    },
    async ownerOf(id) {
      if (!storableId.test(id)) return null;
      const text = await storage.get(conversationIndexAt(id));
      return text === null ? null : ownerOf(text).workspaceId;
    },
    async find(workspaceId, id) {
      if (!storableId.test(id)) return null;
      sweeper.begin();
      const found = await read(workspaceId, id);
      if (found === null) return null;
      const { entry, content } = found;
      return {
        ...entry,
        async open() {
          const known = content === null ? null : await opened(workspaceId, id, entry, content);
          const now = known ?? (await openNow(workspaceId, id))?.content;
          if (now !== undefined) return now;
          throw new GatewayError('not_found', 'The conversation was deleted meanwhile');
        },
      };
    },
    change: (workspaceId, id, make) => lock.run(`${workspaceId} ${id}`, () => changeOnce(workspaceId, id, make)),
    async remove(workspaceId, id) {
      // The content goes first: where this is broken off, the sweeper removes what is left.
      await storage.commit(removal(workspaceId, id));
      await storage.commit([{ at: conversationIndexAt(id), value: null }]);
    },
    sweep: sweeper.sweep,
    close: sweeper.close,
  };
}

function removal(workspaceId: WorkspaceId, id: string): Change[] {
  return [entryAt(workspaceId, id), contentAt(workspaceId, id)].map((at) => ({ at, value: null }));
}

/** Removes conversations that nobody has changed since they were found. @returns the ids of those that are gone */
async function removeUnchanged(storage: Storage, workspaceId: WorkspaceId, found: Swept): Promise<string[]> {
  const ids = 'ids' in found ? found.ids : found.records.map(({ id }) => id);
  const texts =
    'ids' in found
      ? await storage.getMany(ids.map((id) => entryAt(workspaceId, id)))
      : found.records.map(({ value }) => value);
  const gone: string[] = [];
  for (const [at, id] of ids.entries()) {
    const expect = texts[at] ?? null;
    if ('ids' in found && expect !== null && atMsOf(expect) >= found.beforeMs) continue;
    const [entry, ...others] = removal(workspaceId, id) as [Change, ...Change[]];
    if (await storage.commit([{ ...entry, expect }, ...others])) gone.push(id);
  }
  return gone;
}

/** The time of the last change of an entry; 0: the entry is damaged, and can go. */
function atMsOf(text: string): number {
  return storedConversationEntrySchema().safeParse(tryParseJson(text)).data?.at_ms ?? 0;
}

/**
 * Checks the size that a conversation would have.
 * @throws GatewayError payload_too_large (413)
 */
function checkBounds(
  items: number,
  chars: number,
  {
    maxConversationItems: maxItems,
    maxConversationChars: maxChars,
  }: Pick<RecordSettings, 'maxConversationItems' | 'maxConversationChars'>,
): void {
  const tooLarge = (what: string, metadata: Record<string, unknown>) =>
    new GatewayError(
      'payload_too_large',
      `The conversation would have more than ${what}; delete items, or begin another`,
      {
        metadata,
      },
    );
  if (items > maxItems) throw tooLarge(`${maxItems} items`, { limit_items: maxItems });
  if (chars > maxChars) throw tooLarge(`${maxChars} characters`, { limit_chars: maxChars });
}

/** The number of conversations that one step removes. */
const step = 200;

/** Removes all conversations of a workspace, also where none are kept any longer. May be repeated. */
export async function deleteStoredConversations(storage: Storage, workspaceId: WorkspaceId): Promise<void> {
  for (;;) {
    const { records } = await storage.list(workspaceId, entryKind, { offset: 0, limit: step });
    if (records.length === 0) return;
    await storage.commit(records.map(({ id }): Change => ({ at: conversationIndexAt(id), value: null })));
    await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
  }
}
