import type { StopSignal } from '../base/async/stop.ts';
import { isOnOneLine, withoutBlanks } from '../base/text/pasted-key.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { ApiKeyRequest, ApiKeySource } from '../providers/keys/api-key.ts';
import type { Credential } from '../providers/provider.ts';
import type { Configured, ConfiguredKey } from './providers.ts';

/** The stop of an attempt: it makes an AbortSignal only for code that reads one. */
export interface AttemptStop extends StopSignal {
  readonly signal: AbortSignal;
}

type OperatorRef = Extract<CredentialRef, { kind: 'operator' }>;

/** The operator's own keys. */
export interface OperatorKeys {
  /** Returns the credential that a reference names. A key that a function returns may take time. */
  open(ref: OperatorRef, stop: AttemptStop): Credential | Promise<Credential>;
  /**
   * Asks the function of a key for another one.
   * @param refused  the credential that the provider refused
   * @returns false: the key is no function, or has no other one
   */
  renew(ref: OperatorRef, refused: Credential, signal: AbortSignal): boolean | Promise<boolean>;
}

/** @param configured  finds a provider by slug */
export function operatorKeys(configured: (provider: string) => Configured): OperatorKeys {
  const sourced = new WeakMap<ConfiguredKey, SourcedKey>();

  function sourcedKey(key: ConfiguredKey, source: ApiKeySource): SourcedKey {
    let made = sourced.get(key);
    if (made === undefined) {
      made = new SourcedKey(key.credential, source);
      sourced.set(key, made);
    }
    return made;
  }

  return {
    open({ provider }, stop) {
      const key = configured(provider);
      return key.source === null ? key.credential : sourcedKey(key, key.source).open(new KeyRequest(stop));
    },
    renew({ provider }, refused, signal) {
      const key = configured(provider);
      return key.source === null ? false : sourcedKey(key, key.source).renew(refused, signal);
    },
  };
}

/** A key that a function returns. */
class SourcedKey {
  readonly #own: Credential;
  readonly #source: ApiKeySource;
  /** Kept for as long as the key is the same: what is learnt of a credential is remembered by this object. */
  #latest: Credential | null = null;

  /** @param own  the other parts and the headers that go with the key */
  constructor(own: Credential, source: ApiKeySource) {
    this.#own = own;
    this.#source = source;
  }

  open(asked: ApiKeyRequest): Credential | Promise<Credential> {
    const made = this.#source(asked);
    return typeof made === 'string' ? this.#with(made) : Promise.resolve(made).then((key) => this.#with(key));
  }

  async renew({ secret }: Credential, signal: AbortSignal): Promise<boolean> {
    // Another request may have renewed it already.
    if (this.#latest !== null && this.#latest.secret !== secret) return true;
    const renewed = await this.open({ refused: secret, signal });
    return renewed.secret !== secret;
  }

  #with(given: unknown): Credential {
    const secret = typeof given === 'string' ? withoutBlanks(given) : '';
    if (!isOnOneLine(secret)) throw new TypeError('apiKey returned no key of visible ASCII characters on one line');
    if (this.#latest === null || this.#latest.secret !== secret) this.#latest = { ...this.#own, secret };
    return this.#latest;
  }
}

/** A class: its getter makes an AbortSignal only where the function reads it, which takes some time. */
class KeyRequest implements ApiKeyRequest {
  readonly #stop: AttemptStop;

  constructor(stop: AttemptStop) {
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}
