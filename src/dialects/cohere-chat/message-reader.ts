import { isObject, type Loose } from '../../base/values.ts';
import type { Logprobs } from '../../schema/chat/chat.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { ToolCallIds } from '../shared/values.ts';
import { annotationsOf } from './citations.ts';
import { readLogprobs } from './logprobs.ts';
import { type ThoughtKind, thoughtDetail } from './reasoning.ts';
import { streamedCalls } from './streamed-calls.ts';

/** An addition to the message. */
export interface Addition {
  delta: ChunkDelta;
  /** The probabilities of the text in `delta`. */
  logprobs?: Logprobs | null;
}

/** Reads the parts of one message, in pieces as a stream has them, or each at once. */
export interface MessageReader {
  /** Reads a block of text or thoughts, or more of it. */
  content(index: number, block: Loose, logprobs?: unknown): Addition[];
  /** Reads the plan of the calls, or more of it. */
  plan(text: unknown): Addition[];
  startCall(position: number, call: Loose): Addition[];
  addToCall(position: number, call: Loose): Addition[];
  endCall(position: number): Addition[];
  cite(citation: Loose): Addition[];
  /** Ends the message, with calls that have not ended. */
  finish(): Addition[];
  /** true: tools of the caller's were called. */
  hasCalls(): boolean;
}

/**
 * @param ids         the ids that the provider gave
 * @param outputTool  name of the tool whose arguments are the content
 */
export function messageReader(ids: ToolCallIds, outputTool: string | undefined): MessageReader {
  const calls = streamedCalls(ids, outputTool);
  /** The length of the text so far, and the length of the text before each block. */
  let textLength = 0;
  const offsets = new Map<number, number>();
  /** The index of the detail of each block of thoughts; -1 stands for the plan. */
  const thoughts = new Map<number, number>();
  /** The text that is held back: if a call of the output tool follows, its arguments are the content instead. */
  let heldBack = '';
  const heldLogprobs: NonNullable<Logprobs['content']> = [];

  function content(index: number, { thinking, text }: Loose, logprobs?: unknown): Addition[] {
    if (!offsets.has(index)) offsets.set(index, textLength);
    return [...thought('thinking', index, thinking), ...addText(text, readLogprobs(logprobs))];
  }

  function addText(text: unknown, logprobs: Logprobs | null): Addition[] {
    if (typeof text !== 'string') return [];
    textLength += text.length;
    if (outputTool === undefined) return [{ delta: { content: text }, logprobs }];
    heldBack += text;
    for (const token of logprobs?.content ?? []) heldLogprobs.push(token);
    return [];
  }

  function thought(kind: ThoughtKind, block: number, text: unknown): Addition[] {
    if (typeof text !== 'string' || text === '') return [];
    const index = thoughts.get(block) ?? thoughts.size;
    thoughts.set(block, index);
    return [{ delta: { reasoning: text, reasoning_details: [thoughtDetail(kind, text, index)] } }];
  }

  /** Adds a citation. Citations name their block only where there are several. */
  function cite(citation: Loose): Addition[] {
    const { content_index: block } = citation;
    const annotations = annotationsOf(citation, (typeof block === 'number' && offsets.get(block)) || 0);
    return annotations.length === 0 ? [] : [{ delta: { annotations } }];
  }

  /** Releases the text that was held back. Text beside the output is no part of it. */
  function released(): Addition[] {
    if (heldBack === '') return [];
    const text = heldBack;
    heldBack = '';
    if (calls.hasOutput()) return [{ delta: { reasoning: text } }];
    const logprobs = heldLogprobs.length === 0 ? null : { content: heldLogprobs, refusal: null };
    return [{ delta: { content: text }, logprobs }];
  }

  return {
    content,
    plan: (text) => thought('plan', -1, text),
    startCall: (position, call) => additionsOf(calls.start(position, call)),
    addToCall: (position, call) => additionsOf(calls.add(position, call)),
    endCall: (position) => additionsOf(calls.end(position)),
    cite,
    finish: () => [...released(), ...additionsOf(calls.endAll())],
    hasCalls: () => calls.count() > 0,
  };
}

function additionsOf(deltas: readonly ChunkDelta[]): Addition[] {
  return deltas.map((delta) => ({ delta }));
}

/** Reads a complete message. */
export function readMessage(raw: Loose, reader: MessageReader): Addition[] {
  const blocks = typeof raw.content === 'string' ? [{ text: raw.content }] : listOf(raw.content);
  return [
    ...blocks.flatMap((block, index) => reader.content(index, block)),
    ...reader.plan(raw.tool_plan),
    ...listOf(raw.tool_calls).flatMap((call, position) => [
      ...reader.startCall(position, call),
      ...reader.endCall(position),
    ]),
    ...listOf(raw.citations).flatMap(reader.cite),
    ...reader.finish(),
  ];
}

/** Returns the objects of a list. The places of other values are kept. */
function listOf(raw: unknown): Loose[] {
  return Array.isArray(raw) ? raw.map((one) => (isObject(one) ? one : {})) : [];
}
