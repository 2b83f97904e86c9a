import { JsonError, parseJson } from '../../base/json.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { AssistantMessage, ReasoningDetail } from '../../schema/chat/chat.ts';

/**
 * The notes of a model's provider on a part, by its name, such as `{ anthropic: { signature } }`. The model wants them
 * back as `providerOptions` of that part. Nobody else understands them.
 */
export type Metadata = Record<string, Loose>;

/**
 * The beginning of the id of each reasoning detail that is ours. Its `format` cannot say so: clients know a closed list
 * of formats.
 */
const mark = 'ai-sdk-v4';
const idOf = { reasoning: mark, text: `${mark}:text`, call: (id: string) => `${mark}:call:${id}` } as const;

/** Makes the detail of a thought, to be sent back. */
export function thoughtDetail(text: string, index: number): ReasoningDetail {
  return { type: 'reasoning.text', text, id: idOf.reasoning, format: 'unknown', index };
}

/** Makes the detail of notes on a thought, to be sent back: signatures, encrypted thoughts. */
export function notesDetail(metadata: Metadata, index: number): ReasoningDetail {
  return encrypted(idOf.reasoning, metadata, index);
}

/** Makes the detail of notes on the text of a response. */
export function textNotesDetail(metadata: Metadata, index: number): ReasoningDetail {
  return encrypted(idOf.text, metadata, index);
}

/** Makes the detail of notes on a tool call. */
export function callNotesDetail(callId: string, metadata: Metadata, index: number): ReasoningDetail {
  return encrypted(idOf.call(callId), metadata, index);
}

function encrypted(id: string, metadata: Metadata, index: number): ReasoningDetail {
  return { type: 'reasoning.encrypted', data: JSON.stringify(metadata), id, format: 'unknown', index };
}

/** Returns the notes on a part of a response; null: there are none. */
export function metadataIn(value: unknown): Metadata | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).filter(([, notes]) => isObject(notes) && Object.keys(notes).length > 0);
  return entries.length === 0 ? null : (Object.fromEntries(entries) as Metadata);
}

/**
 * Merges notes that came in several events of one part. There may be thousands: nothing is copied twice.
 * @param before  made by this function, or null; changed
 */
export function merged(before: Metadata | null, after: Metadata | null): Metadata | null {
  if (after === null) return before;
  const all: Metadata = before ?? Object.create(null);
  for (const [name, notes] of Object.entries(after)) {
    const known = all[name] ?? Object.create(null);
    all[name] = known;
    for (const key in notes) known[key] = notes[key];
  }
  return all;
}

/** The details that an earlier response of a model wants sent back. */
export interface Returned {
  /** The thoughts, each with its notes, in order. */
  thoughts: { text: string; metadata: Metadata | null }[];
  text: Metadata | null;
  /** The notes on calls, by the id of the call. */
  calls: Map<string, Metadata>;
}

/**
 * Reads the details that are ours. Clients keep the details of a stream as they came: each may hold a few letters, and
 * those of one part have one index.
 * @returns  null: there are none, or some are of another provider
 */
export function returnedIn({ reasoning_details: details }: AssistantMessage): Returned | null {
  if (!Array.isArray(details) || details.length === 0) return null;
  const thoughts = new Map<unknown, Returned['thoughts'][number]>();
  const returned: Returned = { thoughts: [], text: null, calls: new Map() };
  for (const detail of details) {
    if (!isObject(detail) || typeof detail.id !== 'string' || !detail.id.startsWith(mark)) return null;
    const notes = notesIn(detail);
    const ofCall = detail.id.slice(idOf.call('').length);
    if (detail.id === idOf.text) returned.text = merged(returned.text, notes);
    else if (detail.id === idOf.call(ofCall) && notes) returned.calls.set(ofCall, notes);
    if (detail.id !== idOf.reasoning) continue;
    const thought = thoughts.get(detail.index) ?? { text: '', metadata: null };
    thoughts.set(detail.index, thought);
    if (typeof detail.text === 'string') thought.text += detail.text;
    thought.metadata = merged(thought.metadata, notes);
  }
  returned.thoughts = [...thoughts.values()];
  return returned;
}

const maxDepth = 16;

function notesIn({ type, data }: Loose): Metadata | null {
  if (type !== 'reasoning.encrypted' || typeof data !== 'string') return null;
  try {
    return metadataIn(parseJson(data, maxDepth));
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}
