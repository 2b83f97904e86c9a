import { GatewayError } from '../../base/errors.ts';
import type { Generation } from '../../call/generation.ts';
import { chunkFolder } from '../../formats/chunks.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';

/**
 * Returns the text of a response that was asked for without a stream; another plugin may have made a stream of it.
 * @throws GatewayError upstream_failed (502) where there is no text; the error that broke the stream
 */
export async function answerOf(generation: Generation): Promise<string> {
  const message = (await resultOf(generation))?.choices[0]?.message;
  const text = textOf(message?.content) || message?.refusal || '';
  if (text.trim() === '')
    throw new GatewayError('upstream_failed', 'The model answered without a text', { errorType: 'empty_response' });
  return text;
}

async function resultOf(generation: Generation): Promise<ChatResult | null> {
  if (generation.kind === 'complete') return generation.result;
  const folder = chunkFolder();
  while (generation.end === null) for (const chunk of await generation.pull()) folder.add(chunk);
  if (generation.end.kind === 'failed') throw generation.end.error;
  return folder.result();
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
}
