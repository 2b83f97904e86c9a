import { expect } from 'vitest';
import { type ChatResult, chatResultSchema } from '../../src/schema/chat/chat.ts';
import { type ChatChunk, chatChunkSchema } from '../../src/schema/chat/chunk.ts';
import { type ErrorBody, errorBodySchema } from '../../src/schema/chat/envelope.ts';
import { sharedAvailable, validateAgainstReference } from './reference.ts';

/** An answer that was read to its end and checked against the contract. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Of a JSON answer; a stream has none. */
  json: ChatResult & ErrorBody & Record<string, unknown>;
  /** Of a stream: its chunks, without comments and without `[DONE]`. */
  chunks: ChatChunk[];
  /** Of a stream: its comments. */
  comments: string[];
}

/** A frame of an event stream: a comment or a payload. */
export interface SseFrame {
  comment?: string;
  data?: string;
}

/** Cuts a stream of ours into frames. @throws Error for a byte that belongs to no frame */
export function sseEvents(text: string): SseFrame[] {
  const frames = text.split('\n\n');
  if (frames.pop() !== '')
    throw new Error(`The stream ends in the middle of a frame: ${JSON.stringify(text.slice(-80))}`);
  return frames.map((frame) => {
    if (/^: [^\n]*$/.test(frame)) return { comment: frame.slice(2) };
    if (/^data: [^\n]+$/.test(frame)) return { data: frame.slice(6) };
    throw new Error(`Not a frame: ${JSON.stringify(frame)}`);
  });
}

/** Reads a response to its end and checks it. */
export function readStream(response: Response): Promise<Answer> {
  return readAnswer(response, response.text());
}

/**
 * Checks an answer against the schemas, ours and, where it is there, the reference's, and a stream against what the
 * contract says of streams as a whole.
 */
export async function readAnswer(response: Response, body: Promise<string>): Promise<Answer> {
  const text = await body;
  const answer = { status: response.status, headers: response.headers, text, chunks: [], comments: [] };
  const type = response.headers.get('content-type');
  if (type === 'text/event-stream') return { ...answer, json: {} as Answer['json'], ...checkedStream(response, text) };
  if (text === '') return { ...answer, json: {} as Answer['json'] };
  expect(type).toBe('application/json');
  const json = JSON.parse(text);
  if (response.status === 200) {
    check('ChatResult', json);
    chatResultSchema().parse(json);
    expect(json.id).toBe(response.headers.get('x-generation-id'));
  } else checkError(response.status, json);
  return { ...answer, json };
}

/** Every error answer has the envelope, whose code is the status. */
export function checkError(status: number, json: unknown): void {
  check('BadRequestResponse', json);
  expect(errorBodySchema().parse(json).error.code).toBe(status);
}

function checkedStream(response: Response, text: string): { chunks: ChatChunk[]; comments: string[] } {
  expect(response.status).toBe(200);
  const frames = sseEvents(text);
  const comments = frames.flatMap(({ comment }) => (comment === undefined ? [] : [comment]));
  const payloads = frames.flatMap(({ data }) => (data === undefined ? [] : [data]));
  expect(payloads.pop()).toBe('[DONE]');
  const chunks = payloads.map((payload) => JSON.parse(payload) as ChatChunk);
  for (const chunk of chunks) {
    check('ChatStreamChunk', chunk);
    chatChunkSchema().parse(chunk);
    expect(chunk.id).toBe(response.headers.get('x-generation-id'));
  }
  checkEnd(chunks);
  return { chunks, comments };
}

/** A whole stream ends in the one usage chunk, after the last choice; a broken one in the one error chunk. */
function checkEnd(chunks: readonly ChatChunk[]): void {
  const last = chunks.at(-1);
  const before = chunks.slice(0, -1);
  expect(before.filter(({ usage, error }) => usage !== undefined || error !== undefined)).toEqual([]);
  if (last?.error) {
    expect(last.choices[0]?.finish_reason).toBe('error');
    return;
  }
  expect(last?.choices).toEqual([]);
  expect(last?.usage).toBeDefined();
  const open = new Map<number, string | null>();
  for (const { choices } of before) for (const { index, finish_reason } of choices) open.set(index, finish_reason);
  expect(open.size).toBeGreaterThan(0);
  expect([...open.values()]).not.toContain(null);
  expect([...open.values()]).not.toContain('error');
}

function check(schemaName: string, value: unknown): void {
  if (sharedAvailable) expect(validateAgainstReference(schemaName, value)).toEqual([]);
  else if (process.env.REQUIRE_SHARED === '1')
    throw new Error('REQUIRE_SHARED=1, but the reference schemas are not there');
}

/** What the chunks of one choice say, put together. */
export function joined(chunks: readonly ChatChunk[], index = 0) {
  const choices = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { delta } of choices) {
    for (const { index: at, id = '', function: called } of delta.tool_calls ?? []) {
      calls[at] ??= { id: '', name: '', arguments: '' };
      const call = calls[at];
      call.id += id;
      call.name += called?.name ?? '';
      call.arguments += called?.arguments ?? '';
    }
  }
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasoning: choices.map(({ delta }) => delta.reasoning ?? '').join(''),
    refusal: choices.map(({ delta }) => delta.refusal ?? '').join(''),
    calls,
    finish: choices.at(-1)?.finish_reason ?? null,
    nativeFinish: choices.at(-1)?.native_finish_reason ?? null,
  };
}
