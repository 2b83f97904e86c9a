import type { Framer } from '../../base/framing/framing.ts';
import { nativeEventsOf } from '../../call/native-events.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { Forwarding, textOfEvent, withHead } from './chunk-output.ts';
import type { EventReader } from './events.ts';
import { learnNativeTemplate, type Template } from './passthrough-template.ts';

/** The number of events in a row that teach a template each that no event matches. From then on, few are learned from. */
const mostInVain = 8;

/**
 * Passthrough of a format whose events the client's encoder forwards as they came. Each event that differs from the one
 * before in its text alone is compared and copied. Every other event is decoded, and is the end of the template: a block
 * that has ended, or another one that has begun, is seen by the decoder.
 */
export class NativePassthrough extends Forwarding {
  #template: Template | null = null;
  #inVain = 0;

  override chunk(chunk: ChatChunk): void {
    this.#template = null;
    super.chunk(chunk);
  }

  forward(framer: Framer): number {
    if (this.#template === null) return -1;
    const bytes = this.forwardBy(this.#template, framer);
    if (bytes >= 0) this.#inVain = 0;
    return bytes;
  }

  learn({ framer }: EventReader, chunk: ChatChunk): void {
    const [event, ...more] = nativeEventsOf(chunk) ?? [];
    if (event === undefined || more.length > 0) return;
    const fields = this.encoder.textFields?.(event) ?? [];
    if (fields.length === 0) return;
    const mayLearn = this.#inVain < mostInVain || this.#inVain % mostInVain === 0;
    this.#inVain++;
    if (!mayLearn) return;
    // Before it, the first time, there may have been an event that had waited.
    const written = this.encoder.chunk(withHead(chunk, this.head));
    this.#template = learnNativeTemplate(textOfEvent(framer), written, fields, chunk);
  }
}
