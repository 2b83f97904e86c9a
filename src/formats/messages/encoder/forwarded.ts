import { isObject, type Loose } from '../../../base/values.ts';
import type { NativeEvent } from '../../../call/native-events.ts';
import type { ChunkDelta } from '../../../schema/chat/chunk.ts';

/**
 * The events of an upstream that speaks this wire, on their way to the client as they came: the name of the model is
 * replaced, and the end waits until the response is known to be complete.
 */
export class ForwardedEvents {
  #end = '';
  #hasBegun = false;

  /** true: an event was forwarded, so the others are as well. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Returns the frames of events. */
  take(model: string, events: readonly NativeEvent[]): string {
    this.#hasBegun = true;
    let text = '';
    for (const { name, data } of events) {
      if (name === 'message_delta') this.#end += frameOf(name, data);
      else text += this.#takeEnd() + frameOf(name, name === 'message_start' ? withModel(data, model) : data);
    }
    return text;
  }

  /** Returns the frames of the end. @param more  fields of the gateway's own, for the last event */
  end(more: Loose): string {
    return this.#takeEnd() + frameOf('message_stop', JSON.stringify({ type: 'message_stop', ...more }));
  }

  /** An upstream may report counts before its end. */
  #takeEnd(): string {
    const end = this.#end;
    this.#end = '';
    return end;
  }
}

/**
 * Writes events anew whose text was changed: a part of it is held back or masked, or was held back before.
 * @param delta  what the events say now
 */
export function rewritten(events: readonly NativeEvent[], delta: ChunkDelta): NativeEvent[] {
  return events.flatMap((event) => {
    const raw = JSON.parse(event.data) as Loose;
    const json = event.unseen === undefined ? argumentsIn(delta) : event.unseen.piece;
    const said = { text: delta.content, thinking: delta.reasoning, partial_json: json };
    if (event.name === 'content_block_delta') return [eventOf({ ...raw, delta: withTexts(raw.delta, said) })];
    if (event.name === 'content_block_start')
      return [eventOf({ ...raw, content_block: withTexts(raw.content_block, said) })];
    const last = event.name === 'content_block_stop' ? lastDelta(event, said) : null;
    return last === null ? [event] : [eventOf({ type: 'content_block_delta', index: raw.index, delta: last }), event];
  });
}

type Texts = Record<'text' | 'thinking' | 'partial_json', string | null | undefined>;

function argumentsIn({ tool_calls: calls }: ChunkDelta): string | undefined {
  return calls?.[0]?.function?.arguments;
}

function eventOf(raw: Loose): NativeEvent {
  return { name: String(raw.type), data: JSON.stringify(raw) };
}

/** Replaces the texts of a block, or of a delta. */
function withTexts(raw: unknown, said: Texts): unknown {
  if (!isObject(raw)) return raw;
  const texts = Object.entries(said).filter(([name]) => typeof raw[name] === 'string');
  return { ...raw, ...Object.fromEntries(texts.map(([name, text]) => [name, text ?? ''])) };
}

/** Returns the delta for the text that was held back until its block ended; null: none was. */
function lastDelta({ ends }: NativeEvent, { text, thinking, partial_json }: Texts): Loose | null {
  if (ends === 'content') return text ? { type: 'text_delta', text } : null;
  if (ends === 'reasoning') return thinking ? { type: 'thinking_delta', thinking } : null;
  return partial_json ? { type: 'input_json_delta', partial_json } : null;
}

function frameOf(name: string, data: string): string {
  // Data may have lines of its own.
  return `event: ${name}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

/** Replaces the name of the model in the first event, and nothing else: the bytes around it stay. */
function withModel(data: string, model: string): string {
  const event = JSON.parse(data) as { message?: Loose };
  if (!isObject(event.message) || typeof event.message.model !== 'string') return data;
  const own = `"model":${JSON.stringify(event.message.model)}`;
  const at = data.indexOf(own);
  if (at >= 0 && data.indexOf(own, at + 1) < 0) return data.replace(own, () => `"model":${JSON.stringify(model)}`);
  return JSON.stringify({ ...event, message: { ...event.message, model } });
}
