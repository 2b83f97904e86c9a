import type { ChatMessage, ContentPart, ToolMessage } from '../../schema/chat/chat.ts';
import { added, type Entry, inPlaceOf } from './entry.ts';
import type { Profile } from './profile.ts';

/** Other words for media types, by which no provider knows them. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
  ['text/x-markdown', 'text/markdown'],
]);
/** No such word is longer, with what stands before it in a data URL. */
const longestHead = 40;

/** Tells whether a data URL has a media type that must have another word. */
export function hasOtherType(url: string): boolean {
  return headOf(url) !== null;
}

function headOf(url: string): { length: number; type: string } | null {
  const code = url.charCodeAt(0);
  if (code !== 100 && code !== 68) return null;
  const head = /^data:\s*([\w.+-]+\/[\w.+-]+)(?=\s*[;,])/i.exec(url.slice(0, longestHead));
  const type = head === null ? undefined : mediaTypes.get((head[1] as string).toLowerCase());
  return type === undefined ? null : { length: (head as RegExpExecArray)[0].length, type };
}

function typed(url: string): string {
  const head = headOf(url);
  return head === null ? url : `data:${head.type}${url.slice(head.length)}`;
}

/** The address or the data in a part; null: it has none. */
export function urlIn(part: ContentPart): string | null {
  switch (part.type) {
    case 'image_url':
      return part.image_url.url;
    case 'file':
      return part.file.file_data ?? null;
    case 'video_url':
    case 'input_video':
      return part.video_url.url;
    default:
      return null;
  }
}

function withType(part: ContentPart): ContentPart {
  const url = urlIn(part);
  const own = url === null ? null : typed(url);
  if (own === url || own === null) return part;
  if (part.type === 'image_url') return { ...part, image_url: { ...part.image_url, url: own } };
  if (part.type === 'file') return { ...part, file: { ...part.file, file_data: own } };
  if (part.type === 'video_url' || part.type === 'input_video')
    return { ...part, video_url: { ...part.video_url, url: own } };
  return part;
}

/** Tells whether the provider refuses a text. */
export function isRefusedText(text: string, refused: Profile['refusedTexts']): boolean {
  return refused !== 'none' && (text === '' || (refused === 'blank' && text.trim() === ''));
}

function isRefusedPart(part: ContentPart, { refusedTexts }: Profile): boolean {
  return part.type === 'text' && isRefusedText(part.text, refusedTexts);
}

/**
 * Leaves out texts that say nothing where the provider refuses them, and messages of which nothing is left. Words for media
 * types become those that providers know.
 * @param drop  is told of marks that were on a text that is left out
 */
export function spokenEntries(entries: readonly Entry[], profile: Profile, drop: (path: string) => void): Entry[] {
  const spoken: Entry[] = [];
  for (const entry of entries) {
    const { message } = entry;
    const content = contentAs(message.content, profile, drop);
    if (saysNothing(message, content, profile)) continue;
    spoken.push(content === message.content ? entry : inPlaceOf(entry, { ...message, content } as ChatMessage));
  }
  return spoken;
}

function contentAs(
  content: ChatMessage['content'],
  profile: Profile,
  drop: (path: string) => void,
): ChatMessage['content'] {
  if (!Array.isArray(content)) return content;
  const parts = content as readonly ContentPart[];
  const left = parts.filter((part) => !isRefusedPart(part, profile)).map(withType);
  const isSame = left.length === parts.length && left.every((part, at) => part === parts[at]);
  if (isSame) return content;
  if (parts.some((part) => isRefusedPart(part, profile) && (part as { cache_control?: unknown }).cache_control))
    drop('messages[].content[].cache_control');
  return left;
}

function saysNothing(message: ChatMessage, content: ChatMessage['content'], profile: Profile): boolean {
  if (profile.refusedTexts === 'none' || message.role === 'tool') return false;
  const isEmpty =
    typeof content === 'string'
      ? isRefusedText(content, profile.refusedTexts)
      : !Array.isArray(content) || content.length === 0;
  if (!isEmpty) return false;
  if (message.role !== 'assistant') return true;
  const { tool_calls, refusal, reasoning, reasoning_content, reasoning_details, images, audio } = message;
  return (
    ![tool_calls, reasoning_details, images].some((list) => Array.isArray(list) && list.length > 0) &&
    ![refusal, reasoning, reasoning_content, audio].some(Boolean)
  );
}

const seeBehind = '[The result is in the next message of the user.]';

/** Puts what is no text out of results of tools, into a message of the user behind all results of the turn. */
export function textResults(entries: readonly Entry[]): Entry[] {
  const moved: Entry[] = [];
  let media: ContentPart[] = [];
  const flush = () => {
    if (media.length > 0) moved.push(added({ role: 'user', content: media }));
    media = [];
  };
  for (const entry of entries) {
    const { message } = entry;
    if (message.role !== 'tool') flush();
    if (message.role !== 'tool' || !hasMedia(message)) {
      moved.push(entry);
      continue;
    }
    const parts = message.content as readonly ContentPart[];
    const texts = parts.filter(({ type }) => type === 'text');
    const content: ToolMessage['content'] = texts.length === 0 ? seeBehind : texts;
    moved.push(inPlaceOf(entry, { ...message, content }));
    media.push(
      { type: 'text', text: `[From the result of the tool call ${message.tool_call_id}]` },
      ...parts.filter(({ type }) => type !== 'text'),
    );
  }
  flush();
  return moved;
}

/** Tells whether a result of a tool holds more than text. */
export function hasMedia({ content }: ToolMessage): boolean {
  return Array.isArray(content) && content.some(({ type }) => type !== 'text');
}
