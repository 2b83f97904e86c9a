import type { StopSignal } from '../../base/async/stop.ts';
import { isOnOneLine, withoutBlanks } from '../../base/text/pasted-key.ts';
import type { CredentialRef } from '../../call/plan.ts';
import type { ApiKeyRequest, ApiKeySource } from '../../providers/keys/api-key.ts';
import type { Credential } from '../../providers/provider.ts';
import { createKeyRing, type KeyRef, type KeyRing, type KeyRings } from '../../routing/key-ring.ts';
import type { Configured, ConfiguredKey } from '../providers.ts';

/** The stop of an attempt: it makes an AbortSignal only for code that reads one. */
export interface AttemptStop extends StopSignal {
  readonly signal: AbortSignal;
}

type OperatorRef = Extract<CredentialRef, { kind: 'operator' }>;

/** The operator's own keys. */
export interface OperatorKeys {
  /**
   * Returns the credential that a reference names. A key that a function returns may take time.
   * @param isRenewed  true: takes the key that `renew` has just found
   */
  open(ref: OperatorRef, stop: AttemptStop, isRenewed?: boolean): Credential | Promise<Credential>;
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
    open(ref, stop, isRenewed = false) {
      const key = keyOf(configured(ref.provider), ref);
      return key.source === null ? key.credential : sourcedKey(key, key.source).open(new KeyRequest(stop), isRenewed);
    },
    renew(ref, refused, signal) {
      const key = keyOf(configured(ref.provider), ref);
      return key.source === null ? false : sourcedKey(key, key.source).renew(refused, signal);
    },
  };
}

function keyOf(configured: Configured, { key: label }: OperatorRef): ConfiguredKey {
  return label === undefined ? configured : (configured.keys.find((key) => key.label === label) as ConfiguredKey);
}

/** Makes the rings of the providers with several keys. @returns undefined: there are none */
export function keyRingsOf(configured: Iterable<Configured>): KeyRings | undefined {
  const rings = new Map<string, KeyRing>();
  for (const { provider, keys, keyStrategy } of configured) {
    if (keys.length === 0) continue;
    const refs = keys.map(({ label }): KeyRef => ({ kind: 'operator', provider: provider.slug, key: label }));
    rings.set(provider.slug, createKeyRing(refs, keyStrategy));
  }
  return rings.size === 0 ? undefined : rings;
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

  open(asked: ApiKeyRequest, isRenewed: boolean): Credential | Promise<Credential> {
    if (isRenewed && this.#latest !== null) return this.#latest;
    const made = this.#source(asked);
    return typeof made === 'string' ? this.#with(made) : Promise.resolve(made).then((key) => this.#with(key));
  }

  async renew({ secret }: Credential, signal: AbortSignal): Promise<boolean> {
    // Another request may have renewed it already.
    if (this.#latest !== null && this.#latest.secret !== secret) return true;
    const renewed = await this.open({ refused: secret, signal }, false);
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
