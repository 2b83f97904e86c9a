import { tell } from '../../base/async/tell.ts';
import type { Ids } from '../../base/ids.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { AskedOf, Call } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import { createDropped } from '../../dialects/openai-responses/dropped.ts';
import { encodeMessage } from '../../dialects/openai-responses/input.ts';
import {
  type Kept,
  keptFields,
  lostFields,
  notKept,
  type ResponseKeeper,
  withDropped,
} from '../../formats/responses/encoder/index.ts';
import type { ServiceMetadata } from '../../schema/chat/envelope.ts';
import { conversationIdOf } from '../../schema/responses/conversations.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { adding } from '../conversations/items.ts';
import type { OperationInput } from '../operation.ts';
import { itemsOf } from './continue.ts';
import type { ResponsesDeps } from './deps.ts';
import { KeptStream } from './kept-stream.ts';
import { keepingField, zeroRetention } from './may-keep.ts';
import { noConversation } from './reach.ts';

export interface KeepDeps
  extends Pick<ResponsesDeps, 'responses' | 'conversations' | 'notKept' | 'notAdded' | 'brand'> {
  ids: Ids;
}

/** The end of a stream, which waits. */
interface Held {
  write: (kept: Kept) => string;
  frame: (json: string) => string;
}

/**
 * Keeps the response of one call, and adds it to the conversation that its request names. The response says in `store`
 * and in `conversation` what has become of it.
 */
export class CallKeeper implements ResponseKeeper {
  readonly #deps: KeepDeps;
  readonly #input: OperationInput<ResponsesRequest>;
  readonly wanted: Kept;
  #asked: AskedOf | null = null;
  #held: Held | null = null;

  constructor(deps: KeepDeps, input: OperationInput<ResponsesRequest>) {
    this.#deps = deps;
    this.#input = input;
    this.wanted = { store: input.body.store === true, conversation: conversationIdOf(input.body) };
  }

  /** Learns the request as hooks have left it. @throws GatewayError invalid_request (400): a hook asks for zero retention */
  readonly asked = (asked: AskedOf): void => {
    if (asked.ask.request.provider?.zdr === true) throw zeroRetention(keepingField(this.#input.body) ?? 'store');
    this.#asked = asked;
  };

  hold(write: Held['write'], frame: Held['frame']): void {
    this.#held = { write, frame };
  }

  /** Keeps the response of a reply, before its client gets the end of it. */
  async delivered(reply: OperationReply, call: Call): Promise<OperationReply> {
    if (reply.kind === 'stream') return { ...reply, body: new KeptStream(reply.body, () => this.#last(call)) };
    if (reply.kind !== 'json' || !isObject(reply.body)) return reply;
    const { body } = reply;
    if (body.status !== 'completed' && body.status !== 'incomplete') return reply;
    const { kept } = await this.#keep(call, (so) => JSON.stringify(this.#shown(body, so)));
    const lost = lostFields(this.wanted, kept);
    if (lost.length === 0) return reply;
    const dropped = reply.headers?.[droppedHeader];
    return {
      ...reply,
      headers: { ...reply.headers, [droppedHeader]: [...(dropped === undefined ? [] : [dropped]), ...lost].join(', ') },
      body: this.#shown(body, kept),
    };
  }

  /** The response with what has become of it. */
  #shown(body: Loose, kept: Kept): Loose {
    const lost = lostFields(this.wanted, kept);
    const metadata = `${this.#deps.brand}_metadata`;
    const named =
      lost.length > 0 && isObject(body[metadata])
        ? { [metadata]: withDropped(body[metadata] as unknown as ServiceMetadata, lost) }
        : {};
    return { ...body, ...keptFields(this.#input.body, kept), ...named };
  }

  #last(call: Call): Promise<Uint8Array> | null {
    if (this.#held === null) return null;
    const { write, frame } = this.#held;
    return this.#keep(call, write).then(({ json, kept }) => new TextEncoder().encode(frame(json ?? write(kept))));
  }

  /**
   * Adds the response to its conversation, and keeps it as it then is.
   * @returns what has become of it, and the response that says so; `json` null: it was not written yet
   */
  async #keep(call: Call, write: Held['write']): Promise<{ kept: Kept; json: string | null }> {
    if (this.#asked?.isRestored === true) return { kept: notKept, json: null };
    const { store, conversation } = this.wanted;
    let kept: Kept = { store, conversation };
    let json = write(kept);
    if (conversation !== null && !(await this.#add(call, conversation, json))) {
      kept = { store, conversation: null };
      json = write(kept);
    }
    if (!store || (await this.#store(call, json))) return { kept, json };
    return { kept: { ...kept, store: false }, json: null };
  }

  /** The request as guardrails have left it; null: they have changed nothing. */
  #screened(call: Call): AskedOf['screened'] | null {
    const screened = this.#asked?.screened ?? call.ask;
    return screened.request === call.ask.request ? null : screened;
  }

  /** @returns true: the input and the output are in the conversation */
  async #add(call: Call, id: string, json: string): Promise<boolean> {
    const { caller, body, earlierItems = 0 } = this.#input;
    try {
      const screened = this.#screened(call);
      const own = itemsOf(body.input).slice(earlierItems);
      const input = screened === null ? own : screenedOwn(call, screened, earlierItems, own);
      const { output } = JSON.parse(json) as { output: Loose[] };
      const make = adding([...input.filter(isKeptItem), ...output], this.#deps.ids);
      if ((await this.#deps.conversations?.change(caller.workspaceId, id, make)) != null) return true;
      throw noConversation(id);
    } catch (error) {
      tell(() => this.#deps.notAdded(error, call.id, id));
      return false;
    }
  }

  /** @returns true: the response is kept */
  async #store(call: Call, json: string): Promise<boolean> {
    const { caller, receivedAtMs, body } = this.#input;
    try {
      const screened = this.#screened(call);
      const kept = await this.#deps.responses?.keep(caller.workspaceId, {
        id: call.id,
        at_ms: Math.floor(receivedAtMs),
        api_key_hash: caller.apiKeyHash,
        user_id: caller.userId,
        response:
          screened === null ? json : JSON.stringify(screenedResponse(JSON.parse(json) as Loose, call, screened)),
        input: JSON.stringify((screened === null ? itemsOf(body.input) : screenedItems(screened)).filter(isKeptItem)),
      });
      return kept === true;
    } catch (error) {
      tell(() => this.#deps.notKept(error, call.id));
      return false;
    }
  }
}

const droppedHeader = 'x-service-dropped';

/** The question for a compaction is no part of the conversation. */
function isKeptItem({ type }: Loose): boolean {
  return type !== 'compaction_trigger';
}

/**
 * The input items as guardrails have left them: what they have taken out must not stay in the store.
 * @param from  the first message whose items are wanted
 */
function screenedItems({ request, native }: AskedOf['screened'], from = 0): Loose[] {
  const dropped = createDropped();
  return request.messages.flatMap((message, at): readonly Loose[] => {
    if (at < from || at === native?.instructionsAt) return [];
    return native?.items[at] ?? encodeMessage(message, at, {}, dropped);
  });
}

/**
 * The caller's own input items as guardrails have left them, without those of the conversation before them.
 * @param before  the number of items before them
 * @param own     the same items as the caller has sent them
 * @throws Error: a guardrail has changed the messages in a way that does not tell them apart
 */
function screenedOwn({ ask }: Call, screened: AskedOf['screened'], before: number, own: readonly Loose[]): Loose[] {
  if (before === 0) return screenedItems(screened);
  // The message that the caller's first item is in, counted from the end.
  const messages = ask.native?.items ?? [];
  let first = messages.length;
  let count = 0;
  while (first > 0 && count < own.length) count += messages[--first]?.length ?? 0;
  // Items of the conversation may be in the same message, as a call of the model beside its text.
  const shared = count - own.length;
  const isUnchanged = (at: number) => screened.native?.items[at] != null;
  if (screened.request.messages.length !== messages.length || shared < 0 || (shared > 0 && !isUnchanged(first)))
    throw new Error('a guardrail has changed the messages so that the new ones cannot be told from the earlier ones');
  return screenedItems(screened, first).slice(shared);
}

/** Fields that a response repeats of its request, and that have the same name in a chat request. */
const repeated = ['metadata', 'user', 'safety_identifier', 'prompt_cache_key'] as const;

/** The response with the fields of its request as guardrails have left them. */
function screenedResponse(response: Loose, { ask }: Call, { request, native }: AskedOf['screened']): Loose {
  const at = native?.instructionsAt ?? null;
  const instructions = at === null ? null : (request.messages[at]?.content ?? null);
  const kept: Loose = { ...response, instructions: typeof instructions === 'string' ? instructions : null };
  for (const name of repeated) if (name in kept) kept[name] = request[name] ?? null;
  if (request.tools !== ask.request.tools) kept.tools = [];
  if (request.response_format !== ask.request.response_format) kept.text = { format: { type: 'text' } };
  return kept;
}
