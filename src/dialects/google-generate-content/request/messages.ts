import { addAll, type Loose } from '../../../base/values.ts';
import type { ChatMessage, SystemMessage, ToolMessage, UserMessage } from '../../../schema/chat/chat.ts';
import { type CalledTools, calledTools } from '../../shared/called-tools.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { contentText } from '../../shared/values.ts';
import { isGemini3, type ModelFamily } from '../model-family.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { encodeAssistant } from './assistant.ts';
import { type Drop, dropOthers } from './generation-config.ts';
import { encodePart } from './media.ts';

type Content = { role: 'user' | 'model'; parts: Loose[] };

/** The fields that are carried, or that other code lists where they are not. */
const messageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'is_error',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'images',
]);

/** The conversation as Google has it. */
export interface EncodedMessages {
  systemInstruction?: { parts: Loose[] };
  contents: Content[];
}

/**
 * Builds the contents. The messages of the system and the developer go into the system instruction from every place: as
 * a user's text they would lose their authority. Contents of one role in a row become one, as Google wants the results
 * of all calls in one content.
 * @param instruction  added to the system instruction; null: nothing is
 * @throws UpstreamError `unsupported` for parts and results that Google cannot be given
 * @see https://ai.google.dev/api/caching#Content
 */
export function encodeMessages(
  messages: readonly ChatMessage[],
  instruction: string | null,
  family: ModelFamily,
  quirks: GoogleQuirks,
  drop: Drop,
): EncodedMessages {
  const system: Loose[] = [];
  const contents: Content[] = [];
  /** The names of tools, by the id of the call. Some servers use an id again in a later turn. */
  const called = calledTools();
  const add = (role: Content['role'], parts: Loose[]) => {
    // Neither a content without parts is taken, nor an empty text.
    if (parts.length === 0) return;
    const last = contents.at(-1);
    if (last?.role === role) addAll(last.parts, parts);
    else contents.push({ role, parts });
  };
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    dropOthers(message, messageFields, 'messages[]', drop);
    switch (message.role) {
      case 'system':
      case 'developer':
        addAll(system, encodeTexts(message, path, quirks, drop));
        break;
      case 'user':
        add('user', encodeTexts(message, path, quirks, drop));
        break;
      case 'assistant':
        for (const call of message.tool_calls ?? []) called.note(call.id, call.function.name);
        add('model', encodeAssistant(message, path, family, quirks, drop));
        break;
      case 'tool':
        add('user', encodeToolResult(message, path, called, family, quirks, drop));
    }
  }
  if (instruction !== null) system.push({ text: instruction });
  if (system.length === 0 && contents.length === 0) throw unsupported('messages', 'a message that is not empty');
  return withSystem(system, contents, family);
}

/** Gemma takes no system instruction, and no model takes a request without contents. */
function withSystem(system: Loose[], contents: Content[], { isGemma }: ModelFamily): EncodedMessages {
  if (system.length === 0) return { contents };
  const [first, ...others] = contents;
  if (first === undefined) return { contents: [{ role: 'user', parts: system }] };
  if (!isGemma) return { systemInstruction: { parts: system }, contents };
  if (first.role === 'user') return { contents: [{ role: 'user', parts: [...system, ...first.parts] }, ...others] };
  return { contents: [{ role: 'user', parts: system }, ...contents] };
}

function encodeTexts(
  { content }: SystemMessage | UserMessage | Extract<ChatMessage, { role: 'developer' }>,
  path: string,
  quirks: GoogleQuirks,
  drop: Drop,
): Loose[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return content.flatMap((part, at) =>
    part.type === 'text' && part.text === '' ? [] : [encodePart(part, `${path}.content[${at}]`, quirks, drop)],
  );
}

/** Encodes a result with the name of its function, which the caller's message does not have: it refers to the call. */
function encodeToolResult(
  { content, tool_call_id: id, is_error: isError }: ToolMessage,
  path: string,
  called: CalledTools,
  family: ModelFamily,
  quirks: GoogleQuirks,
  drop: Drop,
): Loose[] {
  const name = called.nameOf(id);
  if (name === undefined) throw unsupported(`${path}.tool_call_id`, 'the id of a call in an earlier message');
  const result: Loose = {
    ...(quirks.callIds === false ? {} : { id }),
    name,
    response: { [isError === true ? 'error' : 'output']: contentText(content) ?? '' },
  };
  const media: Loose[] = [];
  if (typeof content !== 'string')
    content.forEach((part, at) => {
      const encoded = encodePart(part, `${path}.content[${at}]`, quirks, drop);
      if (part.type !== 'text') media.push(encoded);
    });
  if (media.length === 0) return [{ functionResponse: result }];
  // Older models take media only beside the result.
  return isGemini3(family)
    ? [{ functionResponse: { ...result, parts: media } }]
    : [{ functionResponse: result }, ...media];
}
