import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { GoogleQuirks } from './quirks.ts';

/** Returns the path of a call. A tuned model has another collection in its name than `models`. */
export function pathOf(upstreamModel: string, { stream }: Pick<ChatRequest, 'stream'>): string {
  const segments = upstreamModel.split('/').map(encodeURIComponent);
  const model = segments.length === 1 ? `models/${segments[0]}` : segments.join('/');
  return `/${model}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

/** Returns the headers of a call. @param tier  the headers that name the tier */
export function headersOf(
  { stream }: Pick<ChatRequest, 'stream'>,
  tier: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream === true ? 'text/event-stream' : 'application/json',
    ...tier,
  };
}

/**
 * Returns the header by which Vertex AI is told the tier. The standard tier has no name there.
 * @param tier  as Google names it, such as `flex`
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
 */
export function tierHeaders(tier: unknown, { serviceTier: place }: GoogleQuirks): Record<string, string> {
  return place === 'header' && (tier === 'flex' || tier === 'priority')
    ? { 'x-vertex-ai-llm-shared-request-type': tier }
    : {};
}
