import { addAll, type Loose } from '../../base/values.ts';
import type { ChatMessage } from '../../schema/chat/chat.ts';
import { added, type Entry, isInstruction, reworded } from './entry.ts';
import type { Profile } from './profile.ts';

/** The text where a provider demands a message that nobody has said. */
const opening = '[The conversation begins.]';
const bridge = '[The results are noted.]';
/** Between texts of messages that become one. */
const gap = '\n\n';

/** Puts all instructions into one message at the beginning. */
export function instructionsFirst(entries: readonly Entry[], drop: (path: string) => void): readonly Entry[] {
  const instructions = entries.filter(({ message }) => isInstruction(message));
  const isFirst = instructions.length === 1 && entries[0] === instructions[0];
  if (instructions.length === 0 || isFirst) return entries;
  return [joined(instructions, drop), ...entries.filter(({ message }) => !isInstruction(message))];
}

/** Puts a message of a user before an assistant that speaks first, behind the instructions at the beginning. */
export function userFirst(entries: readonly Entry[]): readonly Entry[] {
  const at = entries.findIndex(({ message }) => !isInstruction(message));
  if (at < 0 || entries[at]?.message.role !== 'assistant') return entries;
  return entries.toSpliced(at, 0, added({ role: 'user', content: opening }));
}

/** Joins messages of a user, or of the assistant, that stand in a row. */
export function alternating(entries: readonly Entry[], drop: (path: string) => void): Entry[] {
  const turns: Entry[] = [];
  for (let from = 0; from < entries.length; ) {
    let to = from + 1;
    while (to < entries.length && areOneTurn((entries[to - 1] as Entry).message, (entries[to] as Entry).message)) to++;
    turns.push(joined(entries.slice(from, to), drop));
    from = to;
  }
  return turns;
}

/** Tells whether two messages are two of one side in a row. Behind calls stand their results. */
export function areOneTurn(one: ChatMessage, next: ChatMessage): boolean {
  if (one.role !== next.role) return false;
  return one.role === 'user' || (one.role === 'assistant' && !one.tool_calls?.length);
}

/** Lets the assistant speak between results and a user. */
export function bridged(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry, at) => {
    const isBare = entry.message.role === 'tool' && entries[at + 1]?.message.role === 'user';
    return isBare ? [entry, added({ role: 'assistant', content: bridge })] : [entry];
  });
}

/** Applies the order of a profile. */
export function inTurns(entries: readonly Entry[], profile: Profile, drop: (path: string) => void): readonly Entry[] {
  let ordered = profile.instructions === 'first' ? instructionsFirst(entries, drop) : entries;
  if (profile.opens === 'user') ordered = userFirst(ordered);
  if (profile.turns === 'alternate') ordered = alternating(ordered, drop);
  return profile.bridgesResults ? bridged(ordered) : ordered;
}

/** One message that says what all messages of a run say. */
function joined(run: readonly Entry[], drop: (path: string) => void): Entry {
  const first = run[0] as Entry;
  if (run.length === 1) return first;
  const fields: Loose = { role: first.message.role, content: contentOf(run.map(({ message }) => message.content)) };
  /** Lists that were made here, and may grow. */
  const own = new Set<string>();
  for (const { message } of run)
    for (const key in message) {
      const value = (message as Loose)[key];
      if (key === 'role' || key === 'content' || value === null || value === undefined) continue;
      const before = fields[key];
      if (before === undefined) fields[key] = value;
      else if (Array.isArray(before) && Array.isArray(value)) {
        if (!own.has(key)) fields[key] = [...before];
        own.add(key);
        addAll(fields[key] as unknown[], value);
      } else if (texts.has(key))
        fields[key] = before === '' || value === '' ? `${before}${value}` : before + gap + value;
      else if (before !== value) drop(`messages[].${key}`);
    }
  return reworded(run.find(({ from }) => from !== null) ?? first, fields as unknown as ChatMessage);
}

/** Fields of an assistant's message that are one text. */
const texts: ReadonlySet<string> = new Set(['reasoning', 'reasoning_content', 'refusal']);

type Content = ChatMessage['content'];

function contentOf(contents: readonly Content[]): Content {
  const said = contents.filter((content) => content !== undefined && content !== null && content.length > 0);
  if (said.length === 0) return contents[0];
  if (said.every((content) => typeof content === 'string')) return said.join(gap);
  return said.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  ) as Content;
}
