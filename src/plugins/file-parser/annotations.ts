import { isObject } from '../../base/values.ts';
import type { ChatMessage } from '../../schema/chat/chat.ts';

/** The content that was read from a file. */
export type FileContent = readonly (
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
)[];

/** Returns the SHA-256 of a file in hex, as annotations have it. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Makes the annotation of a response with the content that was read from a file. Clients that send it back save the
 * reading.
 */
export function fileAnnotation(hash: string, name: string, content: FileContent) {
  return { type: 'file', file: { hash, name, content } };
}

/** Returns the contents of files in annotations of earlier responses, by hash. */
export function echoedFiles(messages: readonly ChatMessage[]): ReadonlyMap<string, FileContent> {
  const found = new Map<string, FileContent>();
  for (const message of messages) {
    const { annotations } = message as { annotations?: unknown };
    if (message.role !== 'assistant' || !Array.isArray(annotations)) continue;
    for (const annotation of annotations) {
      const file = isObject(annotation) && annotation.type === 'file' ? annotation.file : null;
      if (isObject(file) && typeof file.hash === 'string' && isContent(file.content))
        found.set(file.hash, file.content);
    }
  }
  return found;
}

/** true: the value is a content of a file. Callers may send back anything. */
function isContent(content: unknown): content is FileContent {
  return (
    Array.isArray(content) &&
    content.every(
      (part) =>
        isObject(part) &&
        ((part.type === 'text' && typeof part.text === 'string') ||
          (part.type === 'image_url' && isObject(part.image_url) && typeof part.image_url.url === 'string')),
    )
  );
}
