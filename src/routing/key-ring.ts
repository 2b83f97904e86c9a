import { fingerprintOf } from '../base/text/fingerprint.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { KeyStrategy } from '../providers/keys/options.ts';

/** A reference to one of several keys that the operator has at a provider. */
export type KeyRef = Extract<CredentialRef, { kind: 'operator' }> & { key: string };

/** The operator's keys at one provider. */
export interface KeyRing {
  /** The keys, as they are listed. */
  readonly refs: readonly KeyRef[];
  /**
   * Returns the keys in the order for a request, those in cooldown included. Has no effect, so that an explanation may ask.
   * @param conversation  texts that name what the request belongs to, whose requests begin with the same key, in every
   *   instance; null: nothing is named
   */
  inOrder(conversation: readonly string[] | null): readonly KeyRef[];
  /** Notes that a request was planned with this key: the next one begins with the key after it. */
  planned(ref: KeyRef): void;
  /** Counts a request in flight. @returns a function that ends it; further calls have no effect */
  began(ref: KeyRef): () => void;
}

export function createKeyRing(refs: readonly KeyRef[], strategy: KeyStrategy): KeyRing {
  const inFlight = new Map<KeyRef, number>(refs.map((ref) => [ref, 0]));
  /** The index of the key that is next in turn. */
  let next = 0;
  const count = (ref: KeyRef, by: number) => void inFlight.set(ref, (inFlight.get(ref) ?? 0) + by);

  return {
    refs,
    inOrder(conversation) {
      if (strategy === 'order') return refs;
      if (conversation !== null) return ranked(refs, conversation);
      const inTurn = next === 0 ? refs : [...refs.slice(next), ...refs.slice(0, next)];
      if (strategy === 'round-robin') return inTurn;
      return inTurn.toSorted((one, other) => (inFlight.get(one) as number) - (inFlight.get(other) as number));
    },
    planned(ref) {
      next = (refs.indexOf(ref) + 1) % refs.length;
    },
    began(ref) {
      count(ref, 1);
      let isOver = false;
      return () => {
        if (!isOver) count(ref, -1);
        isOver = true;
      };
    },
  };
}

/**
 * Orders keys by a hash of key and conversation. Each key is the first of an equal share of the conversations, and only
 * the conversations of a key that was taken away go to others.
 */
function ranked(refs: readonly KeyRef[], conversation: readonly string[]): readonly KeyRef[] {
  const seed = fingerprintOf(conversation);
  return refs
    .map((ref) => ({ ref, rank: fingerprintOf([ref.key], seed) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ ref }) => ref);
}

/** The keys of providers that have several, by slug. */
export type KeyRings = ReadonlyMap<string, KeyRing>;

/** Returns the reference where it is to one of several keys; null: the credential is another one. */
export function keyRefOf(ref: CredentialRef): KeyRef | null {
  return ref.kind === 'operator' && ref.key !== undefined ? (ref as KeyRef) : null;
}
