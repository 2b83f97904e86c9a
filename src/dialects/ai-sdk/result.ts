import { UpstreamError } from '../../base/upstream-error.ts';
import { addAll, isObject, type Loose } from '../../base/values.ts';
import type { ChatChoice } from '../../schema/chat.ts';
import type { DecodedResult } from '../dialect.ts';
import { argumentsText, badResponse, toolCallIds } from '../shared/values.ts';
import { readFinish } from './finish-reason.ts';
import { mediaField } from './media.ts';
import {
  callNotesDetail,
  type Metadata,
  merged,
  metadataIn,
  notesDetail,
  textNotesDetail,
  thoughtDetail,
} from './metadata.ts';
import { sources } from './sources.ts';
import { readUsage } from './usage.ts';
import { readWarnings } from './warnings.ts';

/**
 * Reads what `doGenerate` of an AI SDK language model gave.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-generate-result.ts
 */
export function decodeResult(body: unknown): DecodedResult {
  if (!isObject(body) || !Array.isArray(body.content))
    throw badResponse('The model gave something that is no result of a language model.');
  const usage = readUsage(body.usage);
  try {
    const choice = decodeChoice(body, body.content);
    const warnings = readWarnings(body.warnings);
    return {
      result: {
        id: '',
        object: 'chat.completion',
        created: 0,
        model: '',
        choices: [choice],
        system_fingerprint: null,
        ...(warnings.length > 0 ? { warnings } : {}),
      },
      usage,
    };
  } catch (error) {
    // A response that is of no use may have been paid for.
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeChoice({ finishReason, structuredOutputText }: Loose, content: readonly unknown[]): ChatChoice {
  const message = messageOf(content.filter(isObject));
  // A model may write drafts before what was asked for.
  if (typeof structuredOutputText === 'string') message.content = structuredOutputText;
  const finish = readFinish(finishReason, message.tool_calls !== undefined);
  if (finish === null) throw badResponse('The model gave a result without a reason why it ended.');
  if (finish.reason === 'error')
    throw badResponse(`The model broke off its response (${finish.native}).`, finish.native ?? undefined);
  return {
    index: 0,
    message,
    finish_reason: finish.reason,
    native_finish_reason: finish.native,
    logprobs: null,
  } as ChatChoice;
}

function messageOf(parts: readonly Loose[]): Loose {
  let text: string | null = null;
  let textNotes: Metadata | null = null;
  let texts = 0;
  let reasoning = '';
  const details: Loose[] = [];
  const calls: Loose[] = [];
  const annotations: Loose[] = [];
  const based = sources();
  const media: { images: unknown[]; audio?: unknown } = { images: [] };
  const ids = toolCallIds();
  let thoughts = 0;
  for (const part of parts) {
    const notes = metadataIn(part.providerMetadata);
    if (part.type === 'text' && typeof part.text === 'string') {
      addAll(annotations, based.cited(part.citations, text?.length ?? 0));
      text = (text ?? '') + part.text;
      textNotes = merged(textNotes, notes);
      texts++;
    } else if (part.type === 'reasoning' && typeof part.text === 'string') {
      reasoning += part.text;
      if (part.text !== '') details.push(thoughtDetail(part.text, thoughts));
      if (notes) details.push(notesDetail(notes, thoughts));
      thoughts++;
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
      const call = decodeCall(part, ids, calls.length);
      calls.push(call);
      if (notes) details.push(callNotesDetail(call.id as string, notes, thoughts++));
    } else if (part.type === 'source') based.add(part);
    else if (part.type === 'file') {
      const field = mediaField(part);
      if (Array.isArray(field?.images)) addAll(media.images, field.images);
      else if (field !== null) media.audio = field.audio;
    }
  }
  // Notes of several texts could not be told apart once the texts are one.
  if (textNotes !== null && texts === 1) details.push(textNotesDetail(textNotes, thoughts));
  addAll(annotations, based.rest());
  const message: Loose = { role: 'assistant', content: text, refusal: null };
  if (reasoning !== '') message.reasoning = reasoning;
  if (details.length > 0) message.reasoning_details = details;
  if (calls.length > 0) message.tool_calls = calls;
  if (annotations.length > 0) message.annotations = annotations;
  if (media.images.length > 0) message.images = media.images;
  if (media.audio !== undefined) message.audio = media.audio;
  return message;
}

function decodeCall(part: Loose, ids: ReturnType<typeof toolCallIds>, position: number): Loose {
  if (typeof part.toolName !== 'string') throw badResponse('The model called a tool without a name.');
  return {
    id: ids.take(part.toolCallId) ?? ids.make(position),
    type: 'function',
    function: { name: part.toolName, arguments: argumentsText(part.input) || '{}' },
  };
}
