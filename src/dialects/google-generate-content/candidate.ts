import { fromBase64, toBase64 } from '../../base/base64.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import type { ChunkDelta, ChunkToolCall } from '../../schema/chat/chunk.ts';
import { argumentsText, type ToolCallIds } from '../shared/values.ts';
import { annotationsOf, type Grounding, noteGrounding } from './grounding.ts';
import { addPieces, emptyObject, type PartialCall } from './partial-call.ts';
import { imageId, reasoningFormat, signatureOf, textId } from './reasoning.ts';

/** The parts of one response that were read so far. */
export interface CandidateState {
  /** The complete text so far: sources refer to it. */
  text: string;
  /** The numbers of calls of tools, images and details of reasoning. */
  calls: number;
  images: number;
  details: number;
  /** The bytes of sound that no chunk holds yet. */
  sound: Uint8Array;
  /** The call whose arguments are still coming. */
  partial: PartialCall | null;
  grounding: Grounding;
  /** true: a chunk with the role was sent. */
  hasBegun: boolean;
  isFinished: boolean;
}

export function newCandidate(): CandidateState {
  return {
    text: '',
    calls: 0,
    images: 0,
    details: 0,
    sound: new Uint8Array(),
    partial: null,
    grounding: { supports: [], chunks: [], citations: [] },
    hasBegun: false,
    isFinished: false,
  };
}

/** The context in which the parts of a response are read. */
export interface PartReading {
  ids: ToolCallIds;
  /** Id of the response as the provider gave it, for the ids that are made here. */
  responseId: unknown;
  /** The tool whose arguments are the content. */
  outputTool: string | undefined;
}

/**
 * Returns the end of the ids that are made here: without it, every turn of a conversation would have the same ones. Some
 * servers take no id of a call with more than 40 characters.
 */
function suffixOf({ responseId: id }: PartReading): string {
  return typeof id === 'string' && /^[\w-]{1,28}$/.test(id) ? `_${id}` : '';
}

/**
 * Reads the parts that an event, or a complete response, adds.
 * @param isLast  true: no more parts will come, so the sources are noted, and calls are closed
 */
export function readCandidate(raw: Loose, state: CandidateState, reading: PartReading, isLast: boolean): ChunkDelta {
  const delta: ChunkDelta = {};
  const parts = isObject(raw.content) && Array.isArray(raw.content.parts) ? raw.content.parts : [];
  for (const part of parts) if (isObject(part)) readPart(part, state, delta, reading);
  if (isLast) {
    closeCall(state, delta);
    if (state.sound.length > 0) addSound(toBase64(state.sound), delta);
  }
  noteGrounding(state.grounding, raw);
  if (!isLast) return delta;
  const annotations = annotationsOf(state.grounding, state.text);
  if (annotations.length > 0) delta.annotations = annotations;
  return delta;
}

function readPart(part: Loose, state: CandidateState, delta: ChunkDelta, reading: PartReading): void {
  const signature = signatureOf(part);
  if (part.thought === true) {
    // Drafts of an image are no part of the response.
    if (typeof part.text === 'string') addThought(part.text, signature, state, delta);
  } else if (isObject(part.functionCall)) readCall(part.functionCall, signature, state, delta, reading);
  else if (isObject(part.inlineData)) addMedia(part.inlineData, signature, state, delta);
  else if (typeof part.text === 'string') addText(part.text, signature, state, delta);
}

function addThought(text: string, signature: string | null, state: CandidateState, delta: ChunkDelta): void {
  if (text === '' && signature === null) return;
  if (text !== '') delta.reasoning = (delta.reasoning ?? '') + text;
  addDetail({ type: 'reasoning.text', text, ...(signature === null ? {} : { signature }) }, state, delta);
}

function addText(text: string, signature: string | null, state: CandidateState, delta: ChunkDelta): void {
  const start = state.text.length;
  if (text !== '') {
    delta.content = (delta.content ?? '') + text;
    state.text += text;
  }
  if (signature !== null) addSignature(textId(start, state.text.length), signature, state, delta);
}

function addSignature(id: string, signature: string, state: CandidateState, delta: ChunkDelta): void {
  addDetail({ type: 'reasoning.encrypted', data: signature, id }, state, delta);
}

function addDetail(detail: ReasoningDetail, state: CandidateState, delta: ChunkDelta): void {
  delta.reasoning_details ??= [];
  delta.reasoning_details.push({ ...detail, format: reasoningFormat, index: state.details++ });
}

/** Adds images and sound that the model made. */
function addMedia(
  { mimeType: type, data }: Loose,
  signature: string | null,
  state: CandidateState,
  delta: ChunkDelta,
): void {
  if (typeof type !== 'string' || typeof data !== 'string') return;
  if (type.startsWith('image/')) {
    delta.images ??= [];
    delta.images.push({ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } });
    if (signature !== null) addSignature(imageId(state.images), signature, state, delta);
    state.images++;
  } else if (type.startsWith('audio/')) {
    const joined = joinSound(state.sound, data);
    if (joined === null) return;
    state.sound = joined.kept;
    addSound(joined.data, delta);
  }
}

function addSound(data: string, delta: ChunkDelta): void {
  delta.audio = { data: `${delta.audio?.data ?? ''}${data}` };
}

function readCall(
  call: Loose,
  signature: string | null,
  state: CandidateState,
  delta: ChunkDelta,
  reading: PartReading,
) {
  const { name, args, partialArgs, willContinue } = call;
  const isNew = typeof name === 'string' && name !== '';
  if (isNew) {
    closeCall(state, delta);
    if (name === reading.outputTool) {
      addText(isObject(args) ? argumentsText(args) : '{}', null, state, delta);
      return;
    }
    const index = state.calls++;
    const id = reading.ids.take(call.id) ?? `${reading.ids.make(index)}${suffixOf(reading)}`;
    const isWhole = willContinue !== true && partialArgs === undefined;
    const text = isWhole ? argumentsText(isObject(args) ? args : {}) : '';
    addCall({ index, id, type: 'function', function: { name, arguments: text } }, delta);
    if (signature !== null) addSignature(id, signature, state, delta);
    if (isWhole) return;
    state.partial = { index, args: emptyObject() };
  }
  if (state.partial === null) return;
  addPieces(state.partial, partialArgs);
  if (willContinue !== true) closeCall(state, delta);
}

/** Sends the arguments of a call when they are complete: pieces of them are no pieces of their JSON. */
function closeCall(state: CandidateState, delta: ChunkDelta): void {
  if (state.partial === null) return;
  const { index, args } = state.partial;
  state.partial = null;
  addCall({ index, function: { arguments: JSON.stringify(args) } }, delta);
}

function addCall(call: ChunkToolCall, delta: ChunkDelta): void {
  delta.tool_calls ??= [];
  delta.tool_calls.push(call);
}

/**
 * Joins pieces of sound, each of which is base64 of its own. Clients put the texts together, which only fits where no
 * piece but the last is padded: bytes that do not fill three are kept for the next piece.
 * @param kept  bytes of the piece before
 * @returns null where the piece is not base64
 */
function joinSound(kept: Uint8Array, data: string): { data: string; kept: Uint8Array } | null {
  if (kept.length === 0 && !data.endsWith('=')) return { data, kept };
  const piece = fromBase64(data);
  if (piece === null) return null;
  const bytes = new Uint8Array(kept.length + piece.length);
  bytes.set(kept);
  bytes.set(piece, kept.length);
  const end = bytes.length - (bytes.length % 3);
  return { data: toBase64(bytes.subarray(0, end)), kept: bytes.slice(end) };
}
