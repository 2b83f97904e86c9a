import type { MessagesBlock, MessagesMessage } from '../../../schema/messages/request.ts';
import { unpackReasoning } from '../../responses/packed-reasoning.ts';
import { isOwnToolBlock } from '../server-tools.ts';

/** The messages for an upstream that speaks the wire itself. */
export interface OwnWire {
  /** The very same list where nothing is changed. */
  messages: readonly MessagesMessage[];
  /** The paths of the parts that were left out. */
  left: readonly string[];
}

/** The ids of calls that upstreams of this wire take. */
const legalId = /^[a-zA-Z0-9_-]+$/;
const mostIdChars = 64;

/**
 * Makes a conversation that began at providers of other wires one that an upstream of this wire takes: it refuses a thought
 * that it has not signed, a text without a word, and ids of another form or that were given twice. All that it said itself
 * goes back to the byte.
 */
export function ownWire(messages: readonly MessagesMessage[]): OwnWire {
  const left = new Set<string>();
  const taken = new Set<string>();
  /** By the beginning of an id: the first number that may be free. Thousands of calls may have one id. */
  const numbers = new Map<string, number>();
  /** The ids of the calls of the latest turn, by those that the client knows. */
  let ids = new Map<string, string>();
  let isChanged = false;
  let wasAssistant = false;
  const made = messages.flatMap((message): MessagesMessage[] => {
    const isAssistant = message.role === 'assistant';
    if (isAssistant && !wasAssistant) ids = new Map();
    wasAssistant = isAssistant;
    if (!Array.isArray(message.content)) return [message];
    const own = message.content.flatMap((block) => (isAssistant ? said(block) : answered(block)));
    if (own.length === message.content.length && own.every((block, at) => block === (message.content as object[])[at]))
      return [message];
    isChanged = true;
    return own.length === 0 ? [] : [{ ...message, content: own }];
  });

  function said(block: MessagesBlock): MessagesBlock[] {
    if (isForeign(block)) {
      left.add(`messages[].content[].${block.type}`);
      return [];
    }
    if (block.type === 'text' && typeof block.text === 'string' && block.text.trim() === '') return [];
    if (block.type !== 'tool_use' || typeof block.id !== 'string') return [block];
    const id = freeId(block.id);
    taken.add(id);
    ids.set(block.id, id);
    return [id === block.id ? block : { ...block, id }];
  }

  function answered(block: MessagesBlock): MessagesBlock[] {
    if (block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') return [block];
    const id = ids.get(block.tool_use_id) ?? block.tool_use_id;
    return [id === block.tool_use_id ? block : { ...block, tool_use_id: id }];
  }

  /** It depends on what stands before it alone, so that it is the same in every turn. */
  function freeId(id: string): string {
    if (legalId.test(id) && !taken.has(id)) return id;
    const start = id.slice(0, mostIdChars).replace(/[^a-zA-Z0-9_-]/g, '_');
    let number = numbers.get(start) ?? 1;
    while (taken.has(`${start}_${number}`)) number++;
    numbers.set(start, number);
    return `${start}_${number}`;
  }

  return { messages: isChanged ? made : messages, left: [...left] };
}

/** true: a thought that another provider has sealed, in a token of ours, or a block of a tool that the gateway has run. */
function isForeign(block: MessagesBlock): boolean {
  if (isOwnToolBlock(block)) return true;
  const seal = block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : null;
  return typeof seal === 'string' && unpackReasoning(seal) !== null;
}
