import type { ChatRequest } from '../schema/chat/chat.ts';

/** A wire format that clients speak. */
export type WireFormat = 'chat' | 'completions' | 'responses' | 'messages' | 'gemini';

/** An object of the client's wire format: an input item, a tool. */
export type NativeObject = Readonly<Record<string, unknown>>;

/**
 * The parts of a request in the client's own wire format that a chat request has no place for. An upstream that speaks
 * the same format gets them; every other upstream gets the chat request alone. A value: nothing in it changes.
 */
export interface Native {
  /** The name of the wire format, as a dialect and a response encoder have it. */
  readonly format: Exclude<WireFormat, 'chat' | 'completions'>;
  /** The input items as the caller wrote them; `[]`: the input is a text. */
  readonly input: readonly NativeObject[];
  /**
   * The input items that each message of the chat request was made of, by its place. null: the items are not known,
   * because a plugin has made or changed the message, and a dialect encodes it as it stands. `[]`: the message is sent
   * in another way, as `instructions` are, or holds nothing for the upstream.
   */
  readonly items: readonly (readonly NativeObject[] | null)[];
  /** The place of the message that was made of `instructions`; null: there is none. */
  readonly instructionsAt: number | null;
  /**
   * The tool that each chat tool was made of, by its place; null: a plugin or the gateway has made it. Several chat tools
   * may come of one `namespace`. A tool that an input item brings in has that item here (`additional_tools`,
   * `tool_search_output`): the upstream gets the tool with the input, and not among the tools of the request.
   */
  readonly tools: readonly (NativeObject | null)[];
  /** Tools that no chat request can hold, such as `web_search`. */
  readonly hostedTools: readonly NativeObject[];
  /**
   * The choice of a tool. `chat`: the `tool_choice` of the chat request. `own`: as the caller wrote it, which counts
   * for as long as `chat` is unchanged.
   */
  readonly toolChoice: { readonly chat: unknown; readonly own: unknown } | null;
  /** Fields of the request that a chat request has no place for, such as `truncation`, as the caller wrote them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Further values of `include`, beside those that the dialect asks for by itself. */
  readonly include: readonly string[];
  /** The paths of the parts that an upstream that speaks another format does not get, such as `tools[].web_search`. */
  readonly dropped: readonly string[];
  /** Items that only an upstream that speaks the format can read; others must not be called. */
  readonly onlyNative: readonly NeededPart[];
  /** Parts of tool outputs that are no text, as `input[4].output[1]`, and the modality that a model must take. */
  readonly toolMedia: readonly { readonly path: string; readonly modality: string }[];
  /** The form in which a call of a chat function comes back, by the name of the function; absent: a `function_call`. */
  readonly callForms: ReadonlyMap<string, CallForm>;
  /** `compact`: the request asks for a shorter conversation (POST /responses/compact). */
  readonly purpose: 'respond' | 'compact';
  /**
   * The request as it came, for a format whose requests are forwarded as they are; absent: the format has another way.
   * It counts for as long as nobody has changed the request: see `wholeOf`.
   */
  readonly whole?: WholeRequest;
  /**
   * Names the place in the caller's request that a place in the chat request was made of.
   * @param path  a text that begins with a path in the chat request, such as `messages[2].content[0]: expected a text`
   * @returns the text with the caller's own path, such as `input[1].content[0]: expected a text`
   */
  readonly pathOf: (native: Native, request: ChatRequest, path: string) => string;
}

/** A part of a request that must not be left out. */
export interface NeededPart {
  /** The place in the caller's request. */
  readonly path: string;
  /** A text that completes "expected …". */
  readonly expected: string;
  /**
   * true: the part names something that is stored in the account of a credential. Only the caller's own credential may
   * be used with it, or an operator's whose provider says that callers share what is stored. Absent: false.
   */
  readonly isStored?: true;
  /**
   * The path by which the part is listed as dropped, where a plugin or a guardrail has changed the request, which then goes
   * to an upstream of the same format without it. Absent: the changed request is refused.
   */
  readonly leftOutAs?: string;
}

/** A request as it came, and what was made of it at first: by comparison, a change of a plugin or a guardrail shows. */
export interface WholeRequest extends Pick<Native, 'items' | 'tools' | 'hostedTools' | 'fields'> {
  /** The body as the caller wrote it, but for what no upstream of the format takes. */
  readonly body: NativeObject;
  /** The paths of parts that were left out of it, such as thoughts that another provider has signed. Absent: none. */
  readonly left?: readonly string[];
  /** The chat request that was made of it. */
  readonly request: ChatRequest;
  /** Headers of the caller that belong to the body, such as the names of its beta features. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Fields of a chat request that a request on its way to a provider may have otherwise than the caller's. */
const adjustable: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'session_id',
  'trace',
  'debug',
  'stop_server_tools_when',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
]);

/**
 * Returns the request as it came; null: a plugin or a guardrail has changed a message, a tool, or a part that only this
 * format has, or a setting for which a body in this format would have to be written anew.
 * @param request  the chat request as it goes to the provider
 */
export function wholeOf(native: Native | null | undefined, request: ChatRequest): WholeRequest | null {
  const whole = native?.whole;
  if (!native || whole === undefined || native.fields !== whole.fields) return null;
  const isSame = (left: readonly unknown[], right: readonly unknown[]) =>
    left === right || (left.length === right.length && left.every((one, at) => one === right[at]));
  const isWhole =
    isSame(native.items, whole.items) &&
    isSame(native.tools, whole.tools) &&
    isSame(native.hostedTools, whole.hostedTools);
  if (!isWhole) return null;
  const asked = whole.request as Record<string, unknown>;
  const sent = request as Record<string, unknown>;
  const keys = [...Object.keys(asked), ...Object.keys(sent)];
  return keys.every((key) => asked[key] === sent[key] || adjustable.has(key)) ? whole : null;
}

/**
 * The item that a call of a chat function becomes:
 * - `function`: a `function_call` of a function in a namespace
 * - `custom`: a `custom_tool_call`, whose input is the argument `input`
 * - `local_shell`: a `local_shell_call`, whose action has the arguments
 * - `tool_search`: a `tool_search_call`
 */
export interface CallForm {
  /** The type of the item. */
  readonly kind: 'function' | 'custom' | 'local_shell' | 'tool_search';
  /** Name of the tool, as the caller knows it. */
  readonly name: string;
  /** The namespace of a function in one. */
  readonly namespace?: string;
}
