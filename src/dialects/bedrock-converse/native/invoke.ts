import { fromBase64 } from '../../../base/base64.ts';
import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { Native, WholeRequest } from '../../../call/native.ts';
import { wholePayload } from '../../anthropic-messages/native/whole.ts';
import { decodeResult as decodeMessage } from '../../anthropic-messages/result.ts';
import { streamDecoder as messageDecoder } from '../../anthropic-messages/stream.ts';
import type {
  DecodedResult,
  DialectRequest,
  EncodedRequest,
  Reading,
  StreamDecoder,
  StreamPart,
} from '../../dialect.ts';
import { claudeName } from '../../shared/claude-name.ts';
import { eventObject } from '../../shared/response/event-object.ts';
import { bindingBeta } from '../../shared/thought-bindings.ts';
import { badResponse } from '../../shared/values.ts';
import { errorOfException } from '../errors.ts';
import type { ConverseQuirks } from '../quirks.ts';

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html */
const version = 'bedrock-2023-05-31';

/** The features under trial that Bedrock knows: it refuses a request with another one. */
const knownBetas: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'output-128k-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  bindingBeta,
]);

/** The blocks that Bedrock takes. Those of tools that a provider runs come from another host. */
const takenBlocks: ReadonlySet<unknown> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
]);

/**
 * true: a request that came as Messages goes to the model as it came. Claude alone has this wire; a form of the output,
 * parts by their address, and blocks of the tools of another provider go by Converse, which has a way for them.
 */
export function takesWhole({ format, whole }: Native, upstreamModel: string, { family }: ConverseQuirks): boolean {
  if (format !== 'messages' || whole === undefined) return false;
  if (claudeName(upstreamModel) === null && family?.startsWith('claude') !== true) return false;
  const { messages, output_config: output, output_format: form } = whole.body as Loose;
  if ((isObject(output) && isObject(output.format)) || isObject(form)) return false;
  return (messages as Loose[]).every(({ content }) => !Array.isArray(content) || content.every(isTaken));
}

function isTaken(block: unknown): boolean {
  if (!isObject(block) || !takenBlocks.has(block.type)) return false;
  const { source, content } = block;
  if (isObject(source) && (source.type === 'url' || source.type === 'file')) return false;
  return block.type !== 'tool_result' || !Array.isArray(content) || content.every(isTaken);
}

/**
 * Makes the request for `InvokeModel` or `InvokeModelWithResponseStream`: the body as it came, without the model, which the
 * path names, and with the features under trial inside.
 */
export function encodeInvoke(input: DialectRequest<ConverseQuirks>, whole: WholeRequest): EncodedRequest {
  const { request, upstreamModel } = input;
  const { payload: own, betas, dropped, ...rest } = wholePayload({ ...input, quirks: {} }, whole, 'bedrock');
  const known = [...betas].filter((name) => knownBetas.has(name));
  const unknown = [...betas].filter((name) => !knownBetas.has(name)).map((name) => `anthropic-beta.${name}`);
  const payload: Loose = {
    anthropic_version: version,
    ...(known.length === 0 ? {} : { anthropic_beta: known }),
    ...own,
    messages: (own.messages as Loose[]).flatMap(withoutSystem),
  };
  const isStream = request.stream === true;
  return {
    path: `/model/${encodeURIComponent(upstreamModel)}/${isStream ? 'invoke-with-response-stream' : 'invoke'}`,
    headers: {
      'content-type': 'application/json',
      accept: isStream ? 'application/vnd.amazon.eventstream' : 'application/json',
    },
    payload,
    body: stringifyExact(payload),
    ...rest,
    dropped: [...dropped, ...unknown],
  };
}

/** Instructions in the middle of a conversation are text of the user at their place, as in Converse. */
function withoutSystem(message: Loose): Loose[] {
  if (message.role !== 'system') return [message];
  const { content } = message;
  return content === undefined || content === null || (content as string).length === 0
    ? []
    : [{ role: 'user', content }];
}

/** The counts that Bedrock adds to what the model says. */
const metrics = 'amazon-bedrock-invocationMetrics';

/** Reads a complete message. */
export function decodeInvoked(body: Loose, reading: Reading): DecodedResult {
  const { [metrics]: _, ...message } = body;
  return decodeMessage(message, {}, reading);
}

const decoder = new TextDecoder();

/**
 * Reads the events of a message, each of which is base64 in a frame of AWS.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html
 */
export function invokeDecoder(reading: Reading): StreamDecoder {
  const message = messageDecoder({}, reading);

  function decode(data: string, name: string): StreamPart[] {
    const fields = eventObject(data);
    if (name === '') {
      const [[own, inner] = ['', null]] = Object.entries(fields);
      if (!isObject(inner)) throw badResponse('The provider sent a stream event that is none of this dialect.');
      return decodeNamed(own, inner);
    }
    return decodeNamed(name, fields);
  }

  function decodeNamed(name: string, fields: Loose): StreamPart[] {
    if (name === 'chunk') return message.decode(eventIn(fields.bytes), '');
    // Events of a later version are not for us; errors have names of their own.
    return /exception|error|failure|unavailable/i.test(name)
      ? [{ kind: 'error', error: errorOfException(name, fields) }]
      : [];
  }

  return { decode };
}

function eventIn(bytes: unknown): string {
  const read = typeof bytes === 'string' ? fromBase64(bytes) : null;
  if (read === null) throw badResponse('The provider sent a stream event that is no base64.');
  const text = decoder.decode(read);
  if (!text.includes(metrics)) return text;
  const { [metrics]: _, ...event } = eventObject(text);
  return JSON.stringify(event);
}
