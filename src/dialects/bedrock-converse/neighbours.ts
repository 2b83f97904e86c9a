import type { Loose } from '../../base/values.ts';
import type { Conversation } from './messages.ts';

/** Stands beside a document where no other text does. */
const pointer = { text: '[See the document.]' };

/**
 * Corrects blocks that the provider refuses for what stands beside them: a document needs a text in its message, and a mark
 * of what to cache may stand neither right behind a document nor behind a thought.
 * @param dropped  gets marks that have no place
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
export function fitNeighbours({ messages }: Conversation, dropped: Set<string>): void {
  for (const message of messages) {
    const { content } = message;
    if (!content.some((block) => 'document' in block || 'cachePoint' in block)) continue;
    const blocks: Loose[] = [];
    for (const block of content) {
      const before = blocks.at(-1);
      if ('cachePoint' in block && before !== undefined && 'reasoningContent' in before) {
        dropped.add('messages[].content[].cache_control');
        continue;
      }
      if ('cachePoint' in block && before !== undefined && 'document' in before) blocks.push({ ...pointer });
      blocks.push(block);
    }
    const hasDocument = blocks.some((block) => 'document' in block);
    if (hasDocument && !blocks.some((block) => 'text' in block)) blocks.push({ ...pointer });
    message.content = blocks;
  }
}
