import type { WireFormat } from '../call/native.ts';
import { geminiCall, type Place } from './place.ts';

/**
 * Tells which wire format a request speaks, by its path, and otherwise by the headers that only one kind of client
 * sends. Errors are written in that format, and so are listings that several formats have at one path.
 */
export function wireOf({ path, isBeta }: Place, { headers, url }: Pick<Request, 'headers' | 'url'>): WireFormat {
  if (path.startsWith('/chat')) return 'chat';
  if (path === '/completions' || path.startsWith('/completions/')) return 'completions';
  if (path === '/messages' || path.startsWith('/messages/')) return 'messages';
  if (path === '/responses' || path.startsWith('/responses/')) return 'responses';
  if (isBeta || geminiCall.test(path)) return 'gemini';
  if (headers.has('x-goog-api-key')) return 'gemini';
  if (headers.has('anthropic-version')) return 'messages';
  if (headers.has('authorization')) return 'chat';
  if (headers.has('x-api-key')) return 'messages';
  return /[?&]key=/.test(url) ? 'gemini' : 'chat';
}
