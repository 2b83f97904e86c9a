import type { ChatRequest } from '../schema/chat/chat.ts';

/** A wire format that clients speak. */
export type WireFormat = 'chat' | 'responses';

/** An object of the client's wire format: an input item, a tool. */
export type NativeObject = Readonly<Record<string, unknown>>;

/**
 * The parts of a request in the client's own wire format that a chat request has no place for. An upstream that speaks
 * the same format gets them; every other upstream gets the chat request alone. A value: nothing in it changes.
 */
export interface Native {
  /** The name of the wire format, as a dialect and a response encoder have it. */
  readonly format: Exclude<WireFormat, 'chat'>;
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
  readonly onlyNative: readonly { readonly path: string; readonly expected: string }[];
  /** Parts of tool outputs that are no text, as `input[4].output[1]`, and the modality that a model must take. */
  readonly toolMedia: readonly { readonly path: string; readonly modality: string }[];
  /** The form in which a call of a chat function comes back, by the name of the function; absent: a `function_call`. */
  readonly callForms: ReadonlyMap<string, CallForm>;
  /** `compact`: the request asks for a shorter conversation (POST /responses/compact). */
  readonly purpose: 'respond' | 'compact';
  /**
   * Names the place in the caller's request that a place in the chat request was made of.
   * @param path  a text that begins with a path in the chat request, such as `messages[2].content[0]: expected a text`
   * @returns the text with the caller's own path, such as `input[1].content[0]: expected a text`
   */
  readonly pathOf: (native: Native, request: ChatRequest, path: string) => string;
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
