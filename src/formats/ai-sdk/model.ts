import { GatewayError, isGatewayError, kindOf } from '../../base/errors.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { factsOf, finishOf } from './end.ts';
import { callErrorOf } from './error.ts';
import { partReader } from './part-reader.ts';
import { wireRequest } from './request.ts';
import type { CallOptions, CallResult, CallStream, ContentPart, ResponseFacts, StreamPart } from './types.ts';

/** The chunks of a streamed chat completion. Reading throws where it breaks off. */
export interface Chunks {
  next(): Promise<IteratorResult<ChatChunk, undefined>>;
  return(): Promise<unknown>;
}

/** Asks for a chat completion in process: chunks where the body says `stream: true`. */
export type Ask = (
  body: Loose,
  of: { signal: AbortSignal | undefined; headers: Record<string, string> },
) => Promise<{ headers: Readonly<Record<string, string>>; content: ChatResult | Chunks }>;

/** A model whose calls become chat requests. */
export interface ModelCalls {
  ask: Ask;
  /** Slug of the model. */
  slug: string;
  /** Fields of each request, and headers. */
  settings: Loose;
  /** The field of a response with the routing of its request. */
  routingField: string;
}

/** Media types of the sounds that a request asks for; WAV where it names no format. */
const soundTypes: ReadonlyMap<unknown, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['pcm16', 'audio/pcm'],
]);

/** Writes a complete response. @throws an error that is the AI SDK's APICallError; the reason of the signal */
export async function generate(model: ModelCalls, options: CallOptions): Promise<CallResult> {
  const { body, warnings, of } = requestOf(model, options);
  const { headers, content: result } = await asked(model, body, of);
  const facts = factsOf(headers, model.routingField);
  facts.add(result as Loose);
  const choice = (result as ChatResult).choices[0];
  if (isObject(choice?.error)) throw callErrorOf(reportedIn(choice.error), body, false);
  const reader = partReader(soundTypeOf(body));
  const parts = [...reader.add(deltaOf(choice?.message ?? {})), ...reader.finish()];
  return {
    content: contentOf(parts),
    finishReason: finishOf(choice?.finish_reason, choice?.native_finish_reason, reader.hasRefused()),
    usage: facts.usage(),
    providerMetadata: facts.notes(),
    request: { body },
    response: { ...headOf(result as Loose), headers: { ...headers }, body: result },
    warnings: [...warnings, ...facts.warnings()],
  };
}

/** Writes a response in parts. @throws as `generate`, where nothing has come yet */
export async function stream(model: ModelCalls, options: CallOptions): Promise<CallStream> {
  const { body: request, warnings, of } = requestOf(model, options);
  const body = { ...request, stream: true };
  const { headers, content } = await asked(model, body, of);
  const chunks = content as Chunks;
  const facts = factsOf(headers, model.routingField);
  const parts = partsOf(chunks, body, facts, options.includeRawChunks === true);
  const { signal } = of;
  let isFirst = true;
  return {
    stream: new ReadableStream<StreamPart>(
      {
        async pull(controller) {
          try {
            const next = await parts.next();
            // The first chunk may have warnings of the model itself.
            if (isFirst) controller.enqueue({ type: 'stream-start', warnings: [...warnings, ...facts.warnings()] });
            isFirst = false;
            if (next === null) controller.close();
            else for (const part of next) controller.enqueue(part);
          } catch (error) {
            controller.error(signal?.aborted ? signal.reason : error);
          }
        },
        async cancel() {
          await chunks.return();
        },
      },
      { highWaterMark: 0 },
    ),
    request: { body },
    response: { headers: { ...headers } },
  };
}

function requestOf({ slug, settings }: ModelCalls, options: CallOptions) {
  const { body, warnings } = asCallError(null, () => wireRequest(slug, settings, options));
  const headers: Record<string, string> = {};
  for (const given of [settings.headers, options.headers])
    for (const [name, value] of Object.entries(isObject(given) ? given : {}))
      if (typeof value === 'string') headers[name.toLowerCase()] = value;
  return { body, warnings: warnings.list(), of: { signal: options.abortSignal, headers } };
}

function asCallError<Result>(body: unknown, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw callErrorOf(error, body, false);
  }
}

async function asked({ ask }: ModelCalls, body: Loose, of: Parameters<Ask>[1]) {
  try {
    return await ask(body, of);
  } catch (error) {
    throw callErrorOf(error, body, true);
  }
}

/**
 * Reads chunks as parts.
 * @returns null at the end. A response that breaks off ends with its error, and with `finish` for the reason `error`:
 * the AI SDK would take a stream without an end for a complete one
 */
function partsOf(chunks: Chunks, body: Loose, facts: ReturnType<typeof factsOf>, withRaw: boolean) {
  const reader = partReader(soundTypeOf(body));
  let hasHead = false;
  let end: { reason: unknown; native: unknown } | null = null;
  let isOver = false;

  function read(chunk: Loose): StreamPart[] {
    const parts: StreamPart[] = withRaw ? [{ type: 'raw', rawValue: chunk }] : [];
    facts.add(chunk);
    if (!hasHead) parts.push({ type: 'response-metadata', ...headOf(chunk) });
    hasHead = true;
    for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
      if (!isObject(choice) || (choice.index ?? 0) !== 0) continue;
      if (isObject(choice.error)) return [...parts, ...fail(reportedIn(choice.error))];
      if (isObject(choice.delta)) parts.push(...reader.add(choice.delta));
      if (typeof choice.finish_reason === 'string')
        end = { reason: choice.finish_reason, native: choice.native_finish_reason };
    }
    return parts;
  }

  function fail(error: unknown): StreamPart[] {
    isOver = true;
    if (isGatewayError(error)) facts.setUsage(error.metadata?.usage);
    return [
      ...reader.abandon(),
      { type: 'error', error: callErrorOf(error, body, false) },
      ...finish({ reason: 'error', native: undefined }),
    ];
  }

  function finish({ reason, native }: { reason: unknown; native: unknown }): StreamPart[] {
    const finishReason = finishOf(reason, native, reader.hasRefused());
    return [{ type: 'finish', finishReason, usage: facts.usage(), providerMetadata: facts.notes() }];
  }

  return {
    async next(): Promise<StreamPart[] | null> {
      for (;;) {
        if (isOver) return null;
        let result: IteratorResult<ChatChunk, undefined>;
        try {
          result = await chunks.next();
        } catch (error) {
          // The reason of an abort ends the stream itself.
          if (!isGatewayError(error)) throw error;
          return fail(error);
        }
        if (result.done) {
          isOver = true;
          return [...reader.finish(), ...finish(end ?? { reason: null, native: undefined })];
        }
        const parts = read(result.value);
        if (isOver) await chunks.return();
        if (parts.length > 0) return parts;
      }
    },
  };
}

function reportedIn({ code, message, metadata }: Loose): GatewayError {
  const facts = isObject(metadata) ? metadata : {};
  const text = typeof message === 'string' ? message : 'The provider broke off its response';
  return new GatewayError(kindOf(code, facts.error_type), text, { metadata: facts });
}

function headOf({ id, created, model }: Loose): ResponseFacts {
  return {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof model === 'string' ? { modelId: model } : {}),
    ...(typeof created === 'number' ? { timestamp: new Date(created * 1000) } : {}),
  };
}

function soundTypeOf({ audio }: Loose): string {
  const format = isObject(audio) ? audio.format : undefined;
  return soundTypes.get(format) ?? `audio/${typeof format === 'string' ? format : 'wav'}`;
}

/** Returns a complete message as one delta. */
function deltaOf(message: Loose): Loose {
  const { content, tool_calls: calls } = message;
  const text = Array.isArray(content)
    ? content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
    : content;
  return {
    ...message,
    content: text,
    ...(Array.isArray(calls)
      ? { tool_calls: calls.map((call, index) => ({ ...(isObject(call) ? call : {}), index })) }
      : {}),
  };
}

/** Joins the parts of a stream to the content of a complete response. */
function contentOf(parts: readonly StreamPart[]): ContentPart[] {
  const content: ContentPart[] = [];
  const blocks = new Map<string, ContentPart & { type: 'text' | 'reasoning' }>();
  for (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block = { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' } as const;
        blocks.set(part.id, block);
        content.push(block);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const block = blocks.get(part.id);
        if (block !== undefined) block.text += part.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const { type: _type, id, ...more } = part;
        Object.assign(blocks.get(id) ?? {}, more);
        break;
      }
      case 'tool-call':
      case 'file':
      case 'source':
        content.push(part);
        break;
    }
  }
  return content;
}
