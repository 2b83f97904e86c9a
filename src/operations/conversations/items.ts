import type { Ids } from '../../base/ids.ts';
import type { Loose } from '../../base/values.ts';
import type { ConversationContent, ConversationEntryItem } from '../../schema/records/stored-conversation.ts';
import { prefixOf, type ShownItem, shownItem } from '../responses/shown-items.ts';

/** An id that can be written in a path as it is. */
const usableId = /^[\w.-]{1,100}$/;

/** Makes an id with a prefix, such as `conv_…`. */
export function newId(ids: Ids, prefix: string): string {
  return `${prefix}_${ids
    .uuid()
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 64)}`;
}

/**
 * Adds items to a conversation. Each has an id by which clients name it: its own one where no other item has that.
 * Models get the item as it was, whatever its id is here.
 * @returns a function for `StoredConversations.change`, which tells `added` of the items as they were added
 */
export function adding(
  items: readonly Loose[],
  ids: Ids,
  added: (items: readonly ConversationEntryItem[]) => void = () => undefined,
): (content: ConversationContent) => ConversationContent {
  const own = items.map((item) => ({ id: newId(ids, prefixOf(item)), item }));
  return (content) => {
    const taken = new Set(content.items.map(({ id }) => id));
    const more = own.map(({ id: ours, item }) => {
      const given = item.id;
      let id = typeof given === 'string' && usableId.test(given) && !taken.has(given) ? given : ours;
      // A client or a provider may have used one of ours.
      for (let extra = 1; taken.has(id); extra++) id = `${ours}_${extra}`;
      taken.add(id);
      return { id, item };
    });
    added(more);
    return { ...content, items: [...content.items, ...more] };
  };
}

/** Returns an item as the interface shows it. */
export function shownEntry({ id, item }: ConversationEntryItem): ShownItem {
  // The output of a shell without a `call_id` names its call by its own id.
  const callId = item.type === 'local_shell_call_output' && !item.call_id ? { call_id: item.id } : {};
  return { ...shownItem(item, id), ...callId };
}
