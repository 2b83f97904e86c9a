import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Redactor } from '../../base/secrets.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { endpointName } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { BegunAttempt, FollowedAttempt } from '../../telemetry/follow.ts';
import { type AttemptParameters, parametersOf } from '../../telemetry/parameters.ts';
import type { AttemptDeps, ExecuteDeps } from '../deps.ts';
import { costOfFailure } from '../money/cost.ts';
import { type Attempted, type AttemptInput, type AttemptObserver, type AttemptWatcher, attempt } from './attempt.ts';
import { observeFailure, observeFirstToken, observeStart } from './observe.ts';
import type { Sent } from './outgoing.ts';
import { attemptTrace, shownDropped } from './trace.ts';

/**
 * Calls a target, adds the result of the attempt to the log, and reports it to the health of the endpoint, which knows
 * already that the attempt begins. Calls the same target once more, since nothing was made and nothing is charged, where
 * the provider
 * - refuses a key that has come to its end: with the new key;
 * - refuses a thought that does not fit the messages before it: tells it to drop such thoughts.
 */
export function traced(
  deps: AttemptDeps & Pick<ExecuteDeps, 'health'>,
  input: AttemptInput,
  target: Target,
  log: AttemptTrace[],
  watcher: AttemptWatcher,
): Promise<Attempted> {
  const observer = new Observer(deps, input, target, log, watcher);
  return attempt(deps, input, target, observer).catch((error: unknown) => {
    const again = (given = input) => {
      observeStart(deps, target);
      return attempt(deps, given, target, new Observer(deps, given, target, log, watcher));
    };
    if (observer.isRenewed) return again({ ...input, isRenewed: true });
    if (error instanceof UpstreamError && hasLearnt(deps, input, target, error)) return again();
    if (!(error instanceof UpstreamError && error.isThoughtMismatch) || observer.thoughts === undefined) throw error;
    // The provider was told to drop such thoughts, and still refuses them.
    if (observer.thoughts.dropReason !== null || input.signal.aborted || !deps.refusedThoughts) throw error;
    deps.refusedThoughts.add(target.credential);
    return again();
  });
}

/** Tells whether a refusal names the field in which the provider takes thoughts, or says that it takes none, as news. */
function hasLearnt(
  { thoughtFields, provider }: AttemptDeps,
  { ask, signal }: AttemptInput,
  target: Target,
  { wantsThoughtsIn: field }: UpstreamError,
): boolean {
  if (field === undefined || thoughtFields === undefined || signal.aborted) return false;
  const { quirks } = provider(target.endpoint.providerSlug) ?? {};
  // What an operator has set is not tried otherwise.
  if (quirks !== undefined && 'reasoningField' in quirks && quirks.reasoningField !== undefined) return false;
  const known = thoughtFields.of(target).known();
  if (known === field || (field === null && known === undefined)) return false;
  if (!ask.request.messages.some(hasThought)) return false;
  thoughtFields.refused(target, field);
  return true;
}

function hasThought(message: object): boolean {
  return ['reasoning', 'reasoning_content', 'reasoning_details'].some(
    (field) => field in message && Boolean((message as Record<string, unknown>)[field]),
  );
}

class Observer implements AttemptObserver {
  readonly #deps: AttemptDeps & Pick<ExecuteDeps, 'health'>;
  readonly #input: AttemptInput;
  readonly #target: Target;
  readonly #log: AttemptTrace[];
  readonly #watcher: AttemptWatcher;
  readonly #startedAtMs: number;
  #dropped: readonly string[] = [];
  #structuredOutput: EncodedRequest['structuredOutput'];
  #upstreamRequestId: string | null = null;
  /** The handling of thoughts that go back to the provider; undefined: none of them is bound. */
  thoughts: EncodedRequest['thoughts'];
  #sent: Sent | null = null;
  #followed: FollowedAttempt | undefined;
  /** true: the provider refused a key that has come to its end, and there is a new one. */
  isRenewed = false;

  constructor(
    deps: AttemptDeps & Pick<ExecuteDeps, 'health'>,
    input: AttemptInput,
    target: Target,
    log: AttemptTrace[],
    watcher: AttemptWatcher,
  ) {
    this.#deps = deps;
    this.#input = input;
    this.#target = target;
    this.#log = log;
    this.#watcher = watcher;
    this.#startedAtMs = input.time.now();
  }

  show(encoded: EncodedRequest): void {
    this.#dropped = withUnheeded(this.#input.ask.request, this.#withUnspoken(encoded));
    this.#structuredOutput = encoded.structuredOutput;
    this.thoughts = encoded.thoughts;
    this.#watcher.show(encoded);
  }

  /**
   * Adds the fields that a chat request has no place for: an upstream that does not speak the client's format gets none
   * of them.
   */
  #withUnspoken({ dropped, reading }: EncodedRequest): readonly string[] {
    const { native } = this.#input.ask;
    if (native === null || native.dropped.length === 0) return dropped;
    const { dialect } = this.#deps.provider(this.#target.endpoint.providerSlug) ?? {};
    const isSpoken = dialect?.format === native.format || reading?.nativeEvents === true;
    return isSpoken ? dropped : [...new Set([...native.dropped, ...dropped])];
  }

  begins(url: string, planned: ChatRequest): Readonly<Record<string, string>> | undefined {
    const { follower } = this.#input;
    this.#followed = follower?.attempt(
      new LazyBegunAttempt(this.#target, url, this.#startedAtMs, planned, this.#dropped),
    );
    return this.#followed?.headers;
  }

  sends(sent: Sent): void {
    this.#sent = sent;
    this.#watcher.sends?.(sent);
  }

  responded(headers: Readonly<Record<string, string>>, redactor: Redactor): void {
    this.#upstreamRequestId = requestIdIn(headers, redactor);
  }

  succeeded(attempted: Attempted): void {
    this.#note(null, 0);
    // It holds the body, and the stream may be open for long.
    this.#sent = null;
    // A complete response is reported when its generation is settled.
    if (attempted.kind === 'stream')
      observeFirstToken(this.#deps, this.#target, this.#input.time.now() - this.#startedAtMs);
  }

  failed(error: unknown, isRenewed: boolean): void {
    this.isRenewed = isRenewed;
    // A key that has come to its end says nothing about the endpoint.
    observeFailure(this.#deps, this.#target, isRenewed ? null : error);
    const failure = error instanceof UpstreamError ? error : null;
    // The error is a mistake of our own, or of a host app's code. A request that was sent is paid for all the same.
    if (failure === null && !this.#input.signal.aborted && this.#sent === null) return;
    this.#note(error, this.#costOf(failure));
  }

  #costOf(error: UpstreamError | null): number {
    return costOfFailure(this.#deps, this.#target, this.#input.ask, error, this.#sent?.isOnItsWay === true);
  }

  /** @param error  null: the attempt succeeded */
  #note(error: unknown, costNanoUsd: number): void {
    const { signal, time } = this.#input;
    const attempt = attemptTrace(this.#target, error, signal.aborted, {
      startedAtMs: this.#startedAtMs,
      decidedAtMs: time.now(),
      costNanoUsd,
      dropped: this.#dropped,
      structuredOutput: this.#structuredOutput ?? null,
      upstreamRequestId: this.#upstreamRequestId,
      thoughts: this.thoughts,
    });
    this.#log.push(attempt);
    if (this.#followed !== undefined) this.#input.follower?.decided(this.#followed, attempt);
  }
}

/**
 * A begun attempt whose parameters are made when they are read, since a sampler leaves most requests out. A class, not
 * a literal with getters: docs/performance.md, "Classes instead of literals".
 */
class LazyBegunAttempt implements BegunAttempt {
  readonly providerSlug: string;
  readonly endpoint: string;
  readonly model: string;
  readonly url: string;
  readonly streamed: boolean;
  readonly key: string | null;
  readonly startedAtMs: number;
  readonly #planned: ChatRequest;
  readonly #dropped: readonly string[];

  constructor(
    { endpoint, credential }: Target,
    url: string,
    startedAtMs: number,
    planned: ChatRequest,
    dropped: readonly string[],
  ) {
    this.providerSlug = endpoint.providerSlug;
    this.endpoint = endpointName(endpoint);
    this.model = endpoint.modelSlug;
    this.url = url;
    this.streamed = planned.stream === true;
    this.key = keyRefOf(credential)?.key ?? null;
    this.startedAtMs = startedAtMs;
    this.#planned = planned;
    this.#dropped = dropped;
  }

  get parameters(): AttemptParameters {
    return parametersOf(this.#planned, this.#dropped);
  }
}

/** Fields that are not for providers, and that nothing in the gateway acts on unless a plugin has taken them out. */
const unheeded = ['stop_server_tools_when'];

/** Returns the fields that the provider did not get, with the fields that have no effect in the gateway either. */
function withUnheeded(request: ChatRequest, dropped: readonly string[]): readonly string[] {
  const found = unheeded.filter((name) => {
    const value = request[name] ?? null;
    // An empty list asks for nothing.
    return value !== null && !(Array.isArray(value) && value.length === 0);
  });
  return shownDropped(found.length === 0 ? dropped : [...dropped, ...found]);
}

/** Headers in which providers send their id of a request. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'x-ms-request-id',
  'apim-request-id',
  'cf-ray',
];

/** Returns the provider's id of a request, from the headers of its response; null: it sent none. */
export function requestIdIn(headers: Readonly<Record<string, string>>, redactor: Redactor): string | null {
  for (const name of requestIdHeaders) {
    const id = headers[name];
    if (id !== undefined && id !== '') return cleanText(redactor.redact(id), 100);
  }
  return null;
}
