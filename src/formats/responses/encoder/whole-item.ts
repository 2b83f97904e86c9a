import { isObject, type Loose } from '../../../base/values.ts';
import type { EventSink } from './events.ts';
import { OutputItem } from './item.ts';

/** An item that is announced when all of it is known. */
export class WholeItem extends OutputItem {
  readonly #fields: Loose;

  /** @param fields  all fields but `id` and `status` */
  constructor(sink: EventSink, index: number, id: string, fields: Loose) {
    super(sink, index, id);
    this.#fields = fields;
    this.isOver = true;
  }

  protected closeParts(): void {}

  toObject(): Loose {
    return { ...this.#fields, id: this.id, status: this.status };
  }
}

/** Reads the arguments of a call as an object; null: the model has not written one. */
export function argumentsObject(text: string): Loose | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    // The client gets the text that the model wrote, as a call of a function.
    return null;
  }
}

/**
 * Returns the action of a call of `local_shell`.
 * @returns null: the arguments name no command
 */
export function shellAction(called: Loose): Loose | null {
  const { command, env, timeout_ms: timeoutMs, working_directory: directory, user } = called;
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return null;
  return {
    type: 'exec',
    command,
    env: textsIn(env),
    ...(typeof timeoutMs === 'number' ? { timeout_ms: timeoutMs } : {}),
    ...(typeof directory === 'string' ? { working_directory: directory } : {}),
    ...(typeof user === 'string' ? { user } : {}),
  };
}

function textsIn(env: unknown): Loose {
  if (!isObject(env)) return {};
  return Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value === 'string'));
}

/** An image that the model made. It arrives complete. */
export class ImageItem extends OutputItem {
  readonly #image: Loose;

  /** @param url  a data URL, or the address of the image */
  constructor(sink: EventSink, index: number, id: string, url: string) {
    super(sink, index, id);
    this.#image = imageOf(url);
    this.isOver = true;
  }

  override announce(): void {
    super.announce();
    this.sink.emit('response.image_generation_call.in_progress', this.place);
    this.sink.emit('response.image_generation_call.generating', this.place);
  }

  protected closeParts(): void {
    this.sink.emit('response.image_generation_call.completed', this.place);
  }

  toObject(): Loose {
    const head = { id: this.id, type: 'image_generation_call' };
    if (this.status === 'in_progress') return { ...head, status: 'in_progress', result: null };
    return { ...head, status: this.status, ...this.#image };
  }
}

const imageData = /^data:image\/([a-z0-9.+-]{1,32})(?:;[^,;]{1,64})*;base64,/i;

/**
 * Returns the fields of an image. The reference has base64 in `result`. An image that is somewhere else is named by its
 * address.
 */
function imageOf(url: string): Loose {
  const match = imageData.exec(url.slice(0, 256));
  return match === null ? { result: url } : { result: url.slice(match[0].length), output_format: match[1] };
}

/** Events that only the response itself may send: an upstream must not end it, or announce another item. */
const ofResponse =
  /^response\.(?:created|queued|in_progress|completed|incomplete|failed|cancelled|done|debug|error|output_item\.\w+)$/;
const eventName = /^response\.[a-z0-9_.:]{1,100}$/;

/** An item of an upstream that speaks Responses for which a chat completion has no place. It is passed on as it is. */
export class OpaqueItem extends OutputItem {
  #item: Readonly<Loose>;

  constructor(sink: EventSink, index: number, id: string, item: Readonly<Loose>) {
    super(sink, index, id);
    this.#item = item;
  }

  /** Takes over the item as the upstream has it now. */
  update(item: Readonly<Loose>): void {
    this.#item = item;
  }

  pass(event: Readonly<Loose>): void {
    const { type, sequence_number: _number, ...fields } = event;
    if (typeof type !== 'string' || !eventName.test(type) || ofResponse.test(type)) return;
    this.sink.emit(type, { ...fields, ...this.place });
  }

  protected closeParts(): void {}

  toObject(): Loose {
    const { type, ...rest } = this.#item;
    const wasCut = this.status === 'incomplete' && rest.status === 'in_progress';
    return { ...rest, id: this.id, type: String(type), ...(wasCut ? { status: 'incomplete' } : {}) };
  }
}
