import * as z from 'zod';
import { type StopSignal, StopSwitch } from '../../base/async/stop.ts';
import { unlessStopped } from '../../base/async/within.ts';
import { clockOf, type GivenClock, systemClock } from '../../base/clock.ts';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import { checkedHostObject, field } from '../../schema/host-object.ts';
import { type ApiKeyRequest, type ApiKeySource, NoKeyError, pauseIn } from './api-key.ts';
import { fetchToken, type TokenRequest } from './token-endpoint.ts';

/** The options of {@link clientCredentials}. */
export interface ClientCredentialsOptions {
  /** The token endpoint of the authorization server: an http or https URL without user and password. */
  tokenUrl: string;
  /** Id of the client. */
  clientId: string;
  /** Secret of the client. It goes to `tokenUrl` alone, and is in no error and no log. */
  clientSecret: string;
  /** The scopes that are asked for, as one text with blanks between them. Default: none, so the server decides. */
  scope?: string | undefined;
  /** The audience of the token, for servers that want one, such as Auth0. Default: none. */
  audience?: string | undefined;
  /** The resource that the token is for, as an absolute URI (RFC 8707). Default: none. */
  resource?: string | undefined;
  /**
   * The place of id and secret: `basic`, in the header `Authorization`, each percent-encoded, as RFC 6749 prefers; or
   * `body`, as `client_id` and `client_secret` in the form. Default `basic`.
   */
  auth?: 'basic' | 'body' | undefined;
  /** Further headers for the token endpoint. Default: none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The time before its end at which a token is renewed, in ms. Until the new token is there, requests go on with the
   * old one. At most half of the lifetime of a token. Default 60,000.
   */
  refreshBeforeMs?: number | undefined;
  /** The lifetime of a token whose response has no `expires_in`, in ms. Default 300,000. */
  lifetimeMs?: number | undefined;
  /** The longest time for an answer of the token endpoint, in ms. Default 10,000. */
  timeoutMs?: number | undefined;
  /** The network. Default: the global `fetch`, which does not use the gateway's option `proxy`. */
  fetch?: typeof fetch | undefined;
  /** Time, for exact tests. Default: the system's. */
  clock?: GivenClock | undefined;
}

const shape = lazily(() => ({
  tokenUrl: z.string().refine(isAddress, expectation('expected an http or https URL without user and password')),
  clientId: field.text(),
  clientSecret: field.text(),
  scope: field.text().optional(),
  audience: field.text().optional(),
  resource: field.text().optional(),
  auth: z.enum(['basic', 'body']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  refreshBeforeMs: field.count().optional(),
  lifetimeMs: field.count(1).optional(),
  timeoutMs: field.count(1).optional(),
  fetch: field.fn().optional(),
  clock: field.object().optional(),
}));

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/**
 * Makes the key of a provider from OAuth 2.0 client credentials: `apiKey: clientCredentials({ tokenUrl, … })`. All
 * requests share one token and one call for the next one. A token is renewed before its end, and once after the
 * provider refused it with 401. While the token endpoint fails, it is asked again after 1 s, then after twice that, up
 * to 30 s, or after its `Retry-After`; a token that is still good is used meanwhile.
 * @returns a function for `apiKey`, of one provider or of several that take the same token. It rejects with an error
 *          that names the host of `tokenUrl` and the reason, and no secret; its `retryAfterMs` is the time until the
 *          next attempt
 * @throws GatewayError invalid_request (400) for an option that does not exist, or a value of the wrong type
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.4
 */
export function clientCredentials(options: ClientCredentialsOptions): ApiKeySource {
  checkedHostObject('clientCredentials', options, shape);
  const { refreshBeforeMs = 60_000, lifetimeMs = 300_000, timeoutMs = 10_000 } = options;
  return new TokenKeeper({ ...options, refreshBeforeMs, lifetimeMs, timeoutMs }).key;
}

type Settings = ClientCredentialsOptions & TokenRequest & { refreshBeforeMs: number; lifetimeMs: number };

/** A token, with monotonic times. */
interface Held {
  token: string;
  renewAtMs: number;
  endsAtMs: number;
}

/** One call of the token endpoint. */
interface Flight {
  token: Promise<string>;
  stop: StopSwitch;
  /** The number of requests that wait for it. */
  waiting: number;
  /** true: nobody has to wait for it, because the present token is still good. */
  isAhead: boolean;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The longest pause that the token endpoint may ask for. */
const longestAskedMs = 300_000;

/** Holds the token of one client, and at most one call for the next. */
class TokenKeeper {
  readonly #settings: Settings;
  readonly #clock;
  #held: Held | null = null;
  #flight: Flight | null = null;
  /** The last failure, and the monotonic time until which the endpoint is not asked again. */
  #failed: { reason: string; untilMs: number; pauseMs: number } | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#clock = clockOf(settings.clock ?? systemClock);
  }

  /** The token at this moment. Bound. */
  readonly key = ({ refused, signal }: ApiKeyRequest = {}): string | Promise<string> => {
    if (this.#held !== null && this.#held.token === refused) this.#held = null;
    const nowMs = this.#clock.monotonic();
    if (this.#held === null || nowMs >= this.#held.endsAtMs) return this.#next(nowMs, signal);
    if (nowMs >= this.#held.renewAtMs) this.#renewAhead(nowMs);
    return this.#held.token;
  };

  /** Starts a call that nobody waits for. */
  #renewAhead(nowMs: number): void {
    if (this.#flight !== null || this.#pause(nowMs) > 0) return;
    this.#flight = this.#start(true);
  }

  /** The remaining time in which the endpoint is not asked. */
  #pause(nowMs: number): number {
    return this.#failed === null ? 0 : Math.max(0, this.#failed.untilMs - nowMs);
  }

  async #next(nowMs: number, signal: StopSignal | undefined): Promise<string> {
    if (this.#flight === null) {
      const pauseMs = this.#pause(nowMs);
      if (pauseMs > 0) throw new NoKeyError(this.#failed?.reason as string, pauseMs);
      this.#flight = this.#start(false);
    }
    const flight = this.#flight;
    flight.waiting++;
    try {
      return await (signal === undefined ? flight.token : unlessStopped(signal, () => flight.token));
    } finally {
      flight.waiting--;
      if (flight.waiting === 0 && !flight.isAhead && this.#flight === flight) this.#abandon(flight);
    }
  }

  /** Ends a call whose requests have all left. It is no failure of the endpoint. */
  #abandon(flight: Flight): void {
    this.#flight = null;
    flight.stop.abort(new Error('Nobody waits for the token any more'));
  }

  #start(isAhead: boolean): Flight {
    const stop = new StopSwitch();
    const flight: Flight = { token: this.#fetched(stop), stop, waiting: 0, isAhead };
    const done = () => {
      if (this.#flight === flight) this.#flight = null;
    };
    flight.token.then(done, done);
    return flight;
  }

  async #fetched(stop: StopSwitch): Promise<string> {
    const { refreshBeforeMs, lifetimeMs } = this.#settings;
    const startedMs = this.#clock.monotonic();
    try {
      const { token, expiresInMs } = await fetchToken(this.#settings, this.#clock, stop);
      const livesMs = expiresInMs ?? lifetimeMs;
      const endsAtMs = startedMs + livesMs;
      this.#held = { token, endsAtMs, renewAtMs: endsAtMs - Math.min(refreshBeforeMs, livesMs / 2) };
      this.#failed = null;
      return token;
    } catch (error) {
      if (stop.aborted) throw stop.reason;
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): NoKeyError {
    const reason = error instanceof Error ? error.message : 'The token endpoint could not be asked';
    const lengthMs = Math.min((this.#failed?.pauseMs ?? firstPauseMs / 2) * 2, longestPauseMs);
    const pauseMs = Math.max(lengthMs, Math.min(pauseIn(error) ?? 0, longestAskedMs));
    this.#failed = { reason, untilMs: this.#clock.monotonic() + pauseMs, pauseMs: lengthMs };
    return new NoKeyError(reason, pauseMs);
  }
}
