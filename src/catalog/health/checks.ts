import type { Clock } from '../../base/clock.ts';
import type { Endpoint } from '../../call/model.ts';
import type { HealthCheckSettings } from '../../schema/settings/health-check.ts';

/** The result of one check of a server. */
export type CheckResult =
  /** `models`: the provider's names of its models; null: it was not asked for them, or did not tell. */
  | { kind: 'up'; models: ReadonlySet<string> | null }
  /** `reason` is a text without secrets, in the gateway's own words. */
  | { kind: 'failed'; reason: string }
  /** Nothing was asked, such as for want of a key. The result changes nothing. */
  | { kind: 'none' };

/** A provider whose server is checked. */
export interface CheckedServer {
  /** Slug of the provider. */
  provider: string;
  settings: HealthCheckSettings;
  /** Asks the server. Never rejects, and ends soon after the signal is aborted. */
  check(signal: AbortSignal): Promise<CheckResult>;
}

/** The state of a server that is checked. */
export interface ServerState {
  /** Slug of the provider. */
  provider: string;
  /** false: the last checks failed. */
  isUp: boolean;
  /** The time of the last change, or of the start, epoch ms. */
  sinceMs: number;
  /** The reason why the last check failed; null: it did not, or there was none. */
  failure: string | null;
}

/** The checks of servers by this gateway, beside what its requests see. */
export interface HealthChecks {
  /** Makes the first checks, and all that follow. */
  start(): void;
  /** Tells whether the server of an endpoint is down, or does not have the model. Bound. */
  isDown(endpoint: Endpoint): boolean;
  /** The servers that are checked, in the order of the options. */
  state(): readonly ServerState[];
  /** Ends all checks. */
  close(): void;
}

export interface HealthChecksDeps {
  clock: Clock;
  random: () => number;
  /** Called when a server goes down, or is up again. */
  changed(state: ServerState): void;
}

/** The most checks at the same time. */
const mostAtOnce = 8;

/**
 * Checks servers from its start until it is closed. A server counts as up until checks say otherwise. The timers do not
 * keep the process alive.
 */
export function createHealthChecks(servers: readonly CheckedServer[], deps: HealthChecksDeps): HealthChecks {
  const stop = new AbortController();
  const watched = new Map(servers.map((server) => [server.provider, new Watched(server, deps)]));
  /** Servers whose check is due, in order. */
  const due: Watched[] = [];
  const timers = new Set<() => void>();
  let running = 0;

  function plan(one: Watched, ms: number): void {
    const cancel = deps.clock.after(
      ms,
      () => {
        timers.delete(cancel);
        due.push(one);
        startDue();
      },
      { isIdle: true },
    );
    timers.add(cancel);
  }

  function startDue(): void {
    for (; running < mostAtOnce && due.length > 0; running++) {
      const one = due.shift() as Watched;
      void one.server.check(stop.signal).then((result) => {
        running--;
        if (stop.signal.aborted) return;
        one.take(result);
        plan(one, one.server.settings.intervalMs * (0.9 + deps.random() / 5));
        startDue();
      });
    }
  }

  return {
    start() {
      for (const one of watched.values()) plan(one, 0);
    },
    isDown: ({ providerSlug, upstreamModel }) => watched.get(providerSlug)?.lacks(upstreamModel) === true,
    state: () => [...watched.values()].map(({ state }) => state),
    close() {
      for (const cancel of timers) cancel();
      timers.clear();
      due.length = 0;
      stop.abort(new Error('The gateway is closed'));
    },
  };
}

/** One server and what its checks have shown. */
class Watched {
  readonly server: CheckedServer;
  readonly #deps: HealthChecksDeps;
  state: ServerState;
  /** Checks in a row whose result differs from the state. */
  #against = 0;
  #models: ReadonlySet<string> | null = null;

  constructor(server: CheckedServer, deps: HealthChecksDeps) {
    this.server = server;
    this.#deps = deps;
    this.state = { provider: server.provider, isUp: true, sinceMs: deps.clock.now(), failure: null };
  }

  lacks(model: string): boolean {
    if (!this.state.isUp) return true;
    // Ollama names the newest version of a model so, where the request names none.
    return this.#models !== null && !this.#models.has(model) && !this.#models.has(`${model}:latest`);
  }

  take(result: CheckResult): void {
    if (result.kind === 'none') return;
    const isUp = result.kind === 'up';
    if (result.kind === 'up') this.#models = result.models ?? this.#models;
    this.state = { ...this.state, failure: result.kind === 'up' ? null : result.reason };
    if (isUp === this.state.isUp) {
      this.#against = 0;
      return;
    }
    const { failures, successes } = this.server.settings;
    this.#against++;
    if (this.#against < (isUp ? successes : failures)) return;
    this.#against = 0;
    this.state = { ...this.state, isUp, sinceMs: this.#deps.clock.now() };
    this.#deps.changed(this.state);
  }
}
