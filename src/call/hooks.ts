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
 * A step between the generations and the client. It sees every chunk in order, may hold chunks back and release them
 * later. A complete response goes through the same step, as chunks. An error that a step throws ends the response: a
 * GatewayError as it is, any other error as an internal error.
 */
export interface ResponseStep {
  /** Takes one chunk, which it must not change. @returns the chunks that go on to the client now, possibly none */
  push(chunk: ChatChunk): readonly ChatChunk[] | Promise<readonly ChatChunk[]>;
  /**
   * Called once, after the last chunk, also where the client has left or another step has refused the response.
   * @returns the chunks that were held back; nobody gets them where the response was not delivered to its end
   */
  end?(end: ResponseEnd): readonly ChatChunk[] | Promise<readonly ChatChunk[]>;
  /** true: `push` or `end` may return a promise. Default false, which is faster. */
  readonly isAsync?: boolean;
}

/** Money that is held for something that a plugin pays for. */
export interface Expense {
  /**
   * Books the cost, integer nano-USD. The first call counts; an amount that is never settled is booked as it was held.
   */
  settle(nanoUsd: number): void;
}

/** The facts of a model that a plugin may know. */
export interface NamedModel {
  /** The slug, `author/model`. */
  readonly slug: string;
  /** Tokens of prompt and response together; absent: not known. */
  readonly contextLength?: number;
  /** The kinds of content that it takes, such as `text`, `image` and `file`; absent: not known. */
  readonly inputModalities?: readonly string[];
  /** The kinds of content that it makes; absent: not known. */
  readonly outputModalities?: readonly string[];
}

/** The facts that a plugin has where nothing is generated: the explain operations ask it too. */
export interface PlanningContext<Options = unknown> {
  /** The settings of this plugin in the request, checked by `options`; `{}` where there are none. */
  readonly options: Options;
  /**
   * true: the request asks for the plugin, by its name or by its variant of one of the models. false: the plugin acts
   * by `isDefault` or `actsOn`; so does a guardrail.
   */
  readonly isAsked: boolean;
  /** The client call: its id, the request as it came, the caller, and a signal. */
  readonly call: Call;
  /**
   * The parts of the hook's request in the client's own wire format that a chat request has no place for, such as the
   * items of a Responses request; null: the client sent a chat request. A hook that changes them returns a `Revision`.
   */
  readonly native: Native | null;
  /**
   * Returns the route that a generation of this request would take now. Asks no provider, and holds no money.
   * @throws GatewayError that `generate` throws before it calls a provider: invalid_request (400) for a model that does
   * not exist, not_found (404) where no endpoint may serve, unavailable (503)
   */
  plan(request: Revised): Promise<Plan>;
  /**
   * Returns the highest cost of `search`, integer nano-USD.
   * @throws GatewayError invalid_request (400) that `search` would throw
   */
  priceOfSearch(request: SearchRequest): number;
  /**
   * Checks that a service that the operator pays may be used for the call. `search` and `hold` check it by themselves.
   * @param service  the name in the message, such as `web search`
   * @throws GatewayError permission_denied (403) where the workspace uses its own credentials alone
   */
  checkOperatorServices(service: string): Promise<void>;
  /**
   * Checks that the server tools of a request can be offered to a model for the call.
   * @throws GatewayError invalid_request (400) for a tool that this gateway does not have, and for wrong parameters;
   * permission_denied (403) for a service of the operator, like `checkOperatorServices`
   */
  checkServerTools(request: Pick<ChatRequest, 'tools'>): Promise<void>;
  /**
   * Shows a stage in `service_metadata.pipeline` and in the record. In `foresee`, the stage tells the act that the
   * plugin would do, with the highest price as `cost_usd`, for `pipeline` of the explanation.
   */
  addStage(stage: PipelineStage): void;
  /** Aborted when the client leaves, when the call's time is up, and when the hook has had its own time. */
  readonly signal: AbortSignal;
}

/** A generation that a plugin would ask for. */
export interface ForeseenGeneration {
  /** The purpose of the generation, such as `analysis`. */
  purpose: string;
  /** The longest request that the plugin could make for it. */
  request: Revised;
}

/** The facts that `foresee` has. */
export interface ForeseeContext<Options = unknown> extends PlanningContext<Options> {
  /**
   * Counts money that `hold` or `search` of the other hooks would hold: the explanation contains it, and says where no
   * budget has room for it. Holds nothing, so that there is nothing to settle.
   * @param nanoUsd  the most it can cost, integer
   */
  hold(nanoUsd: number): Promise<Expense>;
}

/** The facts that a plugin has of the client call it acts on, and the things that it may add to it. */
export interface PluginContext<Options = unknown> extends PlanningContext<Options> {
  /** Every generation of the call so far, also the failed ones, in the order they began. */
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
 * The hooks of a plugin; all are optional. A hook that throws fails the call: a GatewayError as it is, any other error
 * with 500. A hook that takes longer than `timeouts.pluginMs` fails it with 504. `onError` of a plugin may change that.
 */
export interface PluginHooks<Options = unknown> {
  /**
   * Changes the request before it is routed, or refuses it by throwing a GatewayError. Returns a new request; a
   * `Revision` where it also changes `context.native`.
   */
  before?(request: ChatRequest, context: PluginContext<Options>): Revised | Promise<Revised>;
  /** Changes the request of one planned attempt. `target` holds the model, and the length of its context. */
  prepare?(request: ChatRequest, target: Target, context: PluginContext<Options>): Revised | Promise<Revised>;
  /** Wraps `generate`: calls it once, several times, several times at once, or not at all. */
  wrap?(generate: Generate, request: ChatRequest, context: PluginContext<Options>): Promise<ModelResponse>;
  /**
   * Returns the generations that `wrap` would make of a request, for the explain operations; calls nothing. The last
   * one is the response to the client, and needs at least one of the others. One alone: the request as the plugin would
   * change it. Absent, or empty: the request is explained as it is.
   */
  foresee?(request: ChatRequest, context: ForeseeContext<Options>): Promise<readonly ForeseenGeneration[]>;
  /** Returns the steps that the response goes through, in this order. Called once for each client call. */
  steps?(context: PluginContext<Options>): readonly ResponseStep[];
  /**
   * Returns the steps behind all others, and behind everything that keeps or traces the response: what they put into it,
   * such as texts that `before` has replaced, reaches the client alone.
   */
  restore?(context: PluginContext<Options>): readonly ResponseStep[];
}
