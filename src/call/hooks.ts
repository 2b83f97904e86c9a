import type { Clock } from '../base/clock.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { ChatChunk } from '../schema/chat/chunk.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import type { Revised } from './ask.ts';
import type { Call } from './call.ts';
import type { FetchUrl } from './fetch-url.ts';
import type { Generation, GenerationLog, ModelResponse, ResponseEnd } from './generation.ts';
import type { Native } from './native.ts';
import type { Plan, Target } from './plan.ts';
import type { FoundPages, SearchRequest } from './search.ts';

/**
 * Calls a model: plans a route, holds the money, calls the targets. The generation is settled exactly once, however it
 * ends. Its log names the request in `askedFor`.
 */
export type Generate = (request: Revised) => Promise<Generation>;

/**
 * Stands between the generations and the client. Sees every chunk in order, may hold chunks back and release them
 * later. A complete response goes through the same step, as chunks. What a step throws ends the response with an error:
 * a GatewayError as it is, anything else as an internal error.
 */
export interface ResponseStep {
  /** Takes one chunk. @returns what goes on to the client now, possibly nothing. Must not change the chunk. */
  push(chunk: ChatChunk): readonly ChatChunk[] | Promise<readonly ChatChunk[]>;
  /**
   * Is called once, after the last chunk, also where the client has left or another step has refused the response.
   * @returns what was held back; nobody gets it where the response was not delivered to its end
   */
  end?(end: ResponseEnd): readonly ChatChunk[] | Promise<readonly ChatChunk[]>;
  /** true: `push` or `end` may return a promise. Default false: waiting for nothing is faster. */
  readonly isAsync?: boolean;
}

/** Money that is held for something that a plugin pays for. */
export interface Expense {
  /** Books what it cost, integer nano-USD. The first call counts; what is never settled is booked as it was held. */
  settle(nanoUsd: number): void;
}

/** What a plugin may know of a model. */
export interface NamedModel {
  /** `author/model`. */
  readonly slug: string;
  /** Tokens of prompt and response together; absent: not known. */
  readonly contextLength?: number;
  /** What it takes, such as `text`, `image` and `file`; absent: not known. */
  readonly inputModalities?: readonly string[];
  /** What it makes; absent: not known. */
  readonly outputModalities?: readonly string[];
}

/** What a plugin knows where nothing is generated: the explain operations ask it too. */
export interface PlanningContext<Options = unknown> {
  /** What the request says of this plugin, checked by `options`; `{}` where it says nothing. */
  readonly options: Options;
  /**
   * Whether the request asks for the plugin: it names it, or one of its models has the variant of the plugin. false: the
   * plugin acts by `isDefault` or `actsOn`; so does a guardrail.
   */
  readonly isAsked: boolean;
  /** The client call: its id, the request as it came, the caller, and a signal. */
  readonly call: Call;
  /**
   * What the request that the hook is given says in the client's own wire format, and a chat request has no place for,
   * such as the items of a Responses request; null: the client sent a chat request. A hook that changes it returns a
   * `Revision`.
   */
  readonly native: Native | null;
  /**
   * How a generation of this request would be routed now. No provider is asked, and no money is held.
   * @throws GatewayError as `generate` does before it calls a provider: invalid_request (400) for a model that does not
   *         exist, not_found (404) where no endpoint may serve, unavailable (503)
   */
  plan(request: Revised): Promise<Plan>;
  /**
   * What `search` would cost at most, integer nano-USD.
   * @throws GatewayError invalid_request (400) as `search` would
   */
  priceOfSearch(request: SearchRequest): number;
  /**
   * Asks whether a service that the operator pays may be used for the call. `search` and `hold` ask it by themselves.
   * @param service  for the message, such as `web search`
   * @throws GatewayError permission_denied (403) where the workspace uses its own credentials alone
   */
  checkOperatorServices(service: string): Promise<void>;
  /**
   * Asks whether the server tools of a request can be offered to a model for the call.
   * @throws GatewayError invalid_request (400) for a tool that this gateway does not have, and for wrong parameters;
   *         permission_denied (403) for a service of the operator, as `checkOperatorServices`
   */
  checkServerTools(request: Pick<ChatRequest, 'tools'>): Promise<void>;
  /**
   * Shows a stage in `service_metadata.pipeline` and in the record. In `foresee`: what the plugin would do, with the
   * highest price as `cost_usd`, for `pipeline` of the explanation.
   */
  addStage(stage: PipelineStage): void;
  /** Aborted when the client leaves, when the call's time is up, and when the hook has had its own time. */
  readonly signal: AbortSignal;
}

/** A generation that a plugin would ask for. */
export interface ForeseenGeneration {
  /** What it is for, such as `analysis`. */
  purpose: string;
  /** The longest request that the plugin could make for it. */
  request: Revised;
}

/** What a plugin knows of the client call it acts on, and what it may add to it. */
export interface PluginContext<Options = unknown> extends PlanningContext<Options> {
  /** Every generation of the call so far, in the order they began; those that failed too. */
  readonly generations: readonly GenerationLog[];
  /** Adds annotations, such as `url_citation`, to the message of the first choice, before its end. */
  addAnnotations(annotations: readonly { type: string; [field: string]: unknown }[]): void;
  /** The time. */
  readonly clock: Clock;
  /**
   * The models that a request names, in order: null stands for a router, and for a slug that the catalogue does not
   * know.
   * @throws GatewayError unavailable (503): the catalogue cannot be read
   */
  models(request: ChatRequest): Promise<readonly (NamedModel | null)[]>;
  /**
   * Fetches a URL that the request or a model names; see docs/fetching.md.
   * @throws FetchRefused, whose message may be shown; the reason of the signal
   */
  readonly fetchUrl: FetchUrl;
  /**
   * Searches the web with an engine of the host app, within its time limit, and pays for it; see docs/plugins/web.md.
   * @throws GatewayError invalid_request (400), payment_required (402), upstream_failed (502)
   */
  search(request: SearchRequest): Promise<FoundPages>;
  /**
   * Holds money against the budgets of the workspace before the plugin spends it.
   * @param nanoUsd  the most it can cost, integer
   * @throws GatewayError payment_required (402), unavailable (503); nothing is then held
   */
  hold(nanoUsd: number): Promise<Expense>;
}

/**
 * All hooks are optional. A hook that throws fails the call: a GatewayError as it is, anything else with 500. A hook that
 * takes longer than `timeouts.pluginMs` fails it with 504. `onError` of a plugin may say otherwise.
 */
export interface PluginHooks<Options = unknown> {
  /**
   * Changes the request before it is routed, or refuses it by throwing a GatewayError. Returns a new request; a `Revision`
   * where it changes what `context.native` says as well.
   */
  before?(request: ChatRequest, context: PluginContext<Options>): Revised | Promise<Revised>;
  /** Changes the request of one planned attempt: `target` says which model, and how long its context is. */
  prepare?(request: ChatRequest, target: Target, context: PluginContext<Options>): Revised | Promise<Revised>;
  /** Goes around `generate`: calls it once, several times, several times at once, or not at all. */
  wrap?(generate: Generate, request: ChatRequest, context: PluginContext<Options>): Promise<ModelResponse>;
  /**
   * What `wrap` would generate of a request, for the explain operations: nothing is called. The last is what the client
   * gets, and needs at least one of the others. One alone: the request as the plugin would change it. Absent, or empty:
   * the request is explained as it is.
   */
  foresee?(request: ChatRequest, context: PlanningContext<Options>): Promise<readonly ForeseenGeneration[]>;
  /** Steps that the response goes through, in this order. Asked once for each client call. */
  steps?(context: PluginContext<Options>): readonly ResponseStep[];
}
