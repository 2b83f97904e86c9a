import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type ConversationContent,
  conversationContentSchema,
  type StoredConversationEntry,
  storedConversationEntrySchema,
  storedConversationSchema,
} from '../../schema/records/stored-conversation.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Storage } from '../../stores/storage/storage.ts';
import { openedOr } from '../opening.ts';
import type { ContentVault } from '../records/content.ts';
import { contentAt, entryAt, entryKind } from './places.ts';

const unreadable =
  'The conversation cannot be read: it was sealed with a secret that is not configured any more, or was altered';

/** A conversation with its content. */
export interface OpenConversation {
  entry: StoredConversationEntry;
  content: ConversationContent;
}

/**
 * The most tries of a change, or of a read. One fails only where another instance has changed the conversation
 * meanwhile; the changes of one instance wait for each other.
 */
export const mostTries = 100;

interface ConversationReaderDeps {
  storage: Storage;
  vault: ContentVault;
  clock: Clock;
  ttlMs: number;
}

/** Makes the functions that read conversations. They reject as `StoredConversations` does. */
export function conversationReader({ storage, vault, clock, ttlMs }: ConversationReaderDeps) {
  /** Reads a conversation as text. @returns null: there is none, or it has expired */
  async function read(workspaceId: WorkspaceId, id: string) {
    const at = [entryAt(workspaceId, id), contentAt(workspaceId, id)];
    const [text = null, content = null] = await storage.getMany(at);
    if (text === null) return null;
    const entry = storedConversationEntrySchema().safeParse(tryParseJson(text));
    if (!entry.success) throw damagedRecord(entryKind);
    return entry.data.at_ms < clock.now() - ttlMs ? null : { entry: entry.data, text, content };
  }

  /** @returns null: the content is of another revision, since it was changed while both were read */
  async function opened(
    workspaceId: WorkspaceId,
    id: string,
    { revision }: StoredConversationEntry,
    text: string | null,
  ): Promise<ConversationContent | null> {
    const stored = storedConversationSchema().safeParse(tryParseJson(text ?? ''));
    if (!stored.success) throw damagedRecord(entryKind);
    if (stored.data.revision !== revision) return null;
    if ('content' in stored.data) return stored.data.content;
    const { sealed } = stored.data;
    const clear = tryParseJson(
      await openedOr(unreadable, () => vault.open(sealed, { workspaceId, conversationId: id })),
    );
    const content = conversationContentSchema().safeParse(clear);
    if (!content.success) throw damagedRecord(entryKind);
    return content.data;
  }

  /** Opens a conversation. Its content belongs to its entry. @returns null: it is gone */
  async function openNow(workspaceId: WorkspaceId, id: string): Promise<(OpenConversation & { text: string }) | null> {
    for (let tries = 0; tries < mostTries; tries++) {
      const found = await read(workspaceId, id);
      if (found === null) return null;
      const content = found.content === null ? null : await opened(workspaceId, id, found.entry, found.content);
      if (content !== null) return { entry: found.entry, content, text: found.text };
    }
    throw tooBusy();
  }

  return { read, opened, openNow };
}

export function tooBusy(): GatewayError {
  return new GatewayError('unavailable', 'Too many others change this conversation at the same time; try again', {
    retryAfterMs: 1000,
  });
}
