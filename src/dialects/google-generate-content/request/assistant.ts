import { readDataUrl } from '../../../base/data-url.ts';
import type { Loose } from '../../../base/values.ts';
import type { AssistantMessage, ToolCall } from '../../../schema/chat/chat.ts';
import { noSignature } from '../../../schema/gemini/signature.ts';
import { argumentsObject, contentText } from '../../shared/values.ts';
import { isGemini3, type ModelFamily } from '../model-family.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { type EarlierReasoning, earlierReasoning, imageId, textParts } from '../reasoning.ts';
import type { Drop } from './generation-config.ts';
import { encodePart } from './media.ts';

/** Encodes the parts of an earlier response: thoughts, text, images, calls. */
export function encodeAssistant(
  message: AssistantMessage,
  path: string,
  family: ModelFamily,
  quirks: GoogleQuirks,
  drop: Drop,
): Loose[] {
  const { content, refusal, images = [], tool_calls: calls = [] } = message;
  // A refusal is the text of the model.
  const text = contentText(content) || refusal || '';
  const earlier = earlierReasoning(message, text.length, drop);
  const parts = [...earlier.thoughts, ...encodeContent(content, text, path, earlier, quirks, drop)];
  images.forEach(({ image_url: { url } }, at) => {
    const data = readDataUrl(url);
    if (data === null) drop('messages[].images');
    else parts.push(signed({ inlineData: { mimeType: data.mediaType, data: data.base64 } }, earlier, imageId(at)));
  });
  const isUnsigned = isGemini3(family) && !calls.some(({ id }) => earlier.signatures.has(id));
  calls.forEach((call, at) => {
    const part = signed({ functionCall: encodeCall(call, quirks) }, earlier, call.id);
    if (at === 0 && isUnsigned) part.thoughtSignature = noSignature;
    parts.push(part);
  });
  return parts;
}

function encodeContent(
  content: AssistantMessage['content'],
  text: string,
  path: string,
  { pieces }: EarlierReasoning,
  quirks: GoogleQuirks,
  drop: Drop,
): Loose[] {
  const isText = !Array.isArray(content) || content.every(({ type }) => type === 'text');
  if (!Array.isArray(content) || (isText && pieces.length > 0)) return textParts(text, pieces);
  return content.map((part, at) => encodePart(part, `${path}.content[${at}]`, quirks, drop));
}

function signed(part: Loose, { signatures }: EarlierReasoning, id: string): Loose {
  const signature = signatures.get(id);
  return signature === undefined ? part : { ...part, thoughtSignature: signature };
}

function encodeCall({ id, function: { name, arguments: text } }: ToolCall, { callIds }: GoogleQuirks): Loose {
  return { ...(callIds === false ? {} : { id }), name, args: argumentsObject(text) };
}
