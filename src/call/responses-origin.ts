import type { ChatMessage, ChatRequest, ChatTool } from '../schema/chat.ts';

/** An object of the Responses wire format: an input item, a tool. */
export type ResponsesObject = Readonly<Record<string, unknown>>;

/**
 * The Responses request that a chat request was made of. An upstream that speaks Responses gets from it what a chat
 * request has no place for. Every other upstream gets the chat request alone.
 */
export interface ResponsesOrigin {
  /** The input items as the caller wrote them; `[]`: the input is a text. */
  readonly input: readonly ResponsesObject[];
  /**
   * The input items that a message was made of, by the identity of the message: of a message that a plugin has put in
   * the place of another, nothing is known here, and the dialect encodes it as it stands. `[]`: the message is sent as
   * `instructions`, or stands for nothing that the upstream has to be told.
   */
  readonly itemsOf: WeakMap<ChatMessage, readonly ResponsesObject[]>;
  /** The message that was made of `instructions`; null: there are none. */
  readonly instructions: ChatMessage | null;
  /**
   * The tool that a chat tool was made of, by its identity. Several chat tools may come of one `namespace`. Of a tool
   * that an input item brings in, it is that item (`additional_tools`, `tool_search_output`): the upstream gets the
   * tool with the input, and not among the tools of the request.
   */
  readonly toolOf: WeakMap<ChatTool, ResponsesObject>;
  /** Tools that no chat request can hold, such as `web_search`. */
  readonly hostedTools: readonly ResponsesObject[];
  /** `chat`: the `tool_choice` of the chat request. `own`: as the caller wrote it, for as long as `chat` still stands. */
  readonly toolChoice: { readonly chat: unknown; readonly own: unknown } | null;
  /** Fields of the request that a chat request has no place for, such as `truncation`, as the caller wrote them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Further values of `include`, beside those that the dialect asks for by itself. */
  readonly include: readonly string[];
  /** Paths of what an upstream that does not speak Responses does not get, such as `tools[].web_search`. */
  readonly dropped: readonly string[];
  /** Items that only an upstream that speaks Responses can read; others must not be called. */
  readonly onlyNative: readonly { readonly path: string; readonly expected: string }[];
  /** Parts of tool outputs that are no text, as `input[4].output[1]`, and what a model must take to read them. */
  readonly toolMedia: readonly { readonly path: string; readonly modality: string }[];
  /** How a call of a chat function comes back, by the name of the function; absent: as a `function_call`. */
  readonly callForms: ReadonlyMap<string, CallForm>;
  /** `compact`: the request asks for a shorter conversation (POST /responses/compact). */
  readonly purpose: 'respond' | 'compact';
}

/**
 * The item that a call of a chat function becomes:
 * - `function`: a `function_call` of a function in a namespace
 * - `custom`: a `custom_tool_call`, whose input is the argument `input`
 * - `local_shell`: a `local_shell_call`, whose action has the arguments
 * - `tool_search`: a `tool_search_call`
 */
export interface CallForm {
  readonly kind: 'function' | 'custom' | 'local_shell' | 'tool_search';
  /** Name of the tool, as the caller knows it. */
  readonly name: string;
  /** Of a function in a namespace. */
  readonly namespace?: string;
}

/** A symbol: no JSON has it, so neither a caller nor an upstream can make one, and it is in no JSON that is sent. */
const origin = Symbol('responses origin');

/** A chat request with its origin. Copies by `{ ...request }` keep it. */
export function withOrigin(request: ChatRequest, of: ResponsesOrigin): ChatRequest {
  return Object.assign(request, { [origin]: of });
}

/** The origin of a chat request; null: the caller sent a chat request. */
export function originOf(request: ChatRequest): ResponsesOrigin | null {
  return (request as { [origin]?: ResponsesOrigin })[origin] ?? null;
}
