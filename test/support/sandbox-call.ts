import type { ByteSource } from '../../src/base/bytes.ts';
import { createSandboxTransport } from '../../src/providers/sandbox/transport.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/transport/transport.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { type OpenAiChunk, type OpenAiCompletion, openAiChunk, openAiCompletion } from './openai-wire.ts';

export interface SandboxCall {
  clock: ManualClock;
  transport: Transport;
  /** Sends without moving the clock. */
  send(model: string, fields?: object, signal?: AbortSignal): Promise<TransportResponse>;
  /** Sends and moves the clock until the body has ended. */
  run(
    model: string,
    fields?: object,
  ): Promise<{ status: number; headers: Record<string, string>; text: string; tookMs: number }>;
  completion(model: string, fields?: object): Promise<OpenAiCompletion>;
  /** The chunks of a whole stream, which ends in [DONE]. */
  chunks(model: string, fields?: object): Promise<OpenAiChunk[]>;
}

/** A sandbox on a clock of its own. Without `messages` the request says hello. */
export function sandboxCall(): SandboxCall {
  const clock = manualClock();
  const transport = createSandboxTransport({ clock });
  const send: SandboxCall['send'] = (model, fields = {}, signal = new AbortController().signal) =>
    transport.send(
      sandboxRequest({ model, messages: [{ role: 'user', content: 'Hello there, sandbox!' }], ...fields }, signal),
    );
  const run: SandboxCall['run'] = async (model, fields) => {
    const startMs = clock.now();
    const { status, headers, body } = await clock.until(send(model, fields));
    const text = await clock.until(readText(body));
    return { status, headers, text, tookMs: clock.now() - startMs };
  };
  return {
    clock,
    transport,
    send,
    run,
    completion: async (model, fields) => openAiCompletion.parse(JSON.parse((await run(model, fields)).text)),
    async chunks(model, fields) {
      const { text } = await run(model, { stream: true, ...fields });
      const events = eventsOf(text);
      if (events.pop() !== '[DONE]') throw new Error('The stream does not end in [DONE]');
      return events.map((event) => openAiChunk.parse(JSON.parse(event)));
    },
  };
}

export function sandboxRequest(payload: object, signal: AbortSignal): TransportRequest {
  return {
    method: 'POST',
    url: 'http://sandbox.invalid/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
    signal,
    limits: { headerBytes: 16_384 },
  };
}

export async function readText(body: ByteSource): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = await body.read(); bytes; bytes = await body.read()) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

/** The data of each event of an event stream. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
}

/** What the chunks of one choice say, put together. */
export function joinChunks(chunks: readonly OpenAiChunk[], index = 0) {
  const choices = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
  const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasoning: choices.map(({ delta }) => delta.reasoning ?? '').join(''),
    refusal: choices.map(({ delta }) => delta.refusal ?? '').join(''),
    toolName: calls.map((call) => call.function.name ?? '').join(''),
    toolArguments: calls.map((call) => call.function.arguments).join(''),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => (reason === null ? [] : [reason])),
    /** Events that carry a token. */
    tokens: choices.filter(({ delta }) => delta.role === undefined && Object.keys(delta).length > 0).length,
  };
}
