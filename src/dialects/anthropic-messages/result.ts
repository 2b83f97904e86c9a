import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ChatResult } from '../../schema/chat.ts';
import type { ReasoningDetail } from '../../schema/message.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { badResponse, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { annotationOf, hiddenThought, inputText, refusalIn, thoughtDetail } from './blocks.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { MessagesQuirks } from './quirks.ts';
import { readUsage, serviceTierOf } from './usage.ts';

/**
 * Reads a complete response. A success status proves nothing: the body may be an error, or no message at all.
 * @see https://platform.claude.com/docs/en/api/messages/create "Returns"
 */
export function decodeResult(body: unknown, _quirks: MessagesQuirks = {}, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no message.');
  const usage = readUsage(body.usage);
  try {
    return { result: decodeMessage(body, reading), usage };
  } catch (error) {
    // A response that is of no use may have been paid for.
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeMessage(body: Loose, { outputTool }: Reading): ChatResult {
  const error = errorIn(body);
  if (error) throw error;
  const { content, stop_reason: native } = body;
  if (!Array.isArray(content)) throw badResponse('The provider responded with a message that has no content.');
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a stop_reason.');
  const gathered = gather(content, outputTool);
  const callsTools = gathered.calls.length > 0;
  const tier = serviceTierOf(body.usage);
  return {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: [
      {
        index: 0,
        message: messageOf(gathered, refusalIn(body)),
        finish_reason: finishReasonOf(native, callsTools),
        native_finish_reason: native,
        logprobs: null,
      },
    ],
    system_fingerprint: null,
    ...(tier === null ? {} : { service_tier: tier }),
  };
}

interface Gathered {
  text: string;
  /** What the output tool was given; null: it was not called. */
  output: string | null;
  reasoning: string;
  details: ReasoningDetail[];
  annotations: Loose[];
  calls: Loose[];
}

function gather(content: readonly unknown[], outputTool: string | undefined): Gathered {
  const gathered: Gathered = { text: '', output: null, reasoning: '', details: [], annotations: [], calls: [] };
  const ids = toolCallIds();
  for (const block of content) if (isObject(block) && block.type === 'tool_use') ids.take(block.id);
  content.forEach((block, at) => {
    if (isObject(block)) readBlock(block, at, gathered, ids, outputTool);
  });
  return gathered;
}

/** Blocks of the provider's own tools are of no use to the caller: their results are in the text. */
function readBlock(block: Loose, at: number, into: Gathered, ids: ToolCallIds, outputTool: string | undefined): void {
  switch (block.type) {
    case 'text':
      readText(block, into);
      break;
    case 'thinking':
      into.reasoning += typeof block.thinking === 'string' ? block.thinking : '';
      into.details.push(
        thoughtDetail(
          {
            text: typeof block.thinking === 'string' ? block.thinking : '',
            ...(typeof block.signature === 'string' ? { signature: block.signature } : {}),
          },
          at,
        ),
      );
      break;
    case 'redacted_thinking': {
      const detail = hiddenThought(block, at);
      if (detail) into.details.push(detail);
      break;
    }
    case 'tool_use':
      readCall(block, into, ids, outputTool);
  }
}

function readText({ text, citations }: Loose, into: Gathered): void {
  if (typeof text !== 'string') return;
  const start = into.text.length;
  into.text += text;
  for (const citation of Array.isArray(citations) ? citations : []) {
    const annotation = annotationOf(citation, start, into.text.length);
    if (annotation) into.annotations.push(annotation);
  }
}

function readCall({ id, name, input }: Loose, into: Gathered, ids: ToolCallIds, outputTool: string | undefined): void {
  if (typeof name !== 'string') throw badResponse('The provider responded with a tool call that names no function.');
  const given = inputText(input) || '{}';
  if (name === outputTool) into.output ??= given;
  else
    into.calls.push({
      id: ids.take(id) ?? ids.make(into.calls.length),
      type: 'function',
      function: { name, arguments: given },
    });
}

function messageOf(gathered: Gathered, refusal: string | null): ChatResult['choices'][number]['message'] {
  const { text, output, reasoning, details, annotations, calls } = gathered;
  const content = output ?? text;
  return {
    role: 'assistant',
    // What is said beside output of a form is not part of it.
    content: content === '' && calls.length > 0 ? null : content,
    refusal,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls as never }),
    ...(annotations.length === 0 || output !== null ? {} : { annotations }),
  };
}
