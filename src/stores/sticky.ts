import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { fingerprintOf } from '../base/fingerprint.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { StickySettings } from '../schema/settings.ts';

/**
 * What a conversation used last, so that its next request finds the prompt cache it filled. In this process: instances
 * agree without asking each other, since the draw among endpoints is the same for the same session; only what a failure
 * moved is known here alone. Lost with the process, which costs a cache miss.
 */
export interface Sticky {
  /** null: nothing within the last minutes. */
  get(at: StickyAddress): string | null;
  /** A success: from now on, and for as long as the next comes in time. */
  pin(at: StickyAddress, value: string): void;
  /** Whether any conversation is known by its opening: if not, nobody need look one up. */
  hasOpenings(): boolean;
}

export interface StickyAddress {
  workspaceId: WorkspaceId;
  /** A model's slug, or a router's. */
  slug: string;
  conversation: Conversation;
}

/** What names a conversation: the caller's own key for it, or a fingerprint of how it began. */
export type Conversation = { kind: 'session'; key: string } | { kind: 'opening'; key: number };

export interface StickyDeps extends StickySettings {
  clock: Clock;
}

interface Pin {
  workspaceId: WorkspaceId;
  slug: string;
  value: string;
  untilMs: number;
}

export function createSticky({ clock, ttlMs, max }: StickyDeps): Sticky {
  // Bounded by a size, not by `max`, for which the cache would set aside memory from the start: 6 MB for two of them.
  const newPins = () => new LRUCache<string | number, Pin>({ maxSize: max, sizeCalculation: () => 1 });
  const pins = { session: newPins(), opening: newPins() };

  /** undefined: there is none, or it is of another workspace or model, whose number happens to be the same. */
  function find(at: StickyAddress, key: string | number): Pin | undefined {
    const pin = pins[at.conversation.kind].get(key);
    return pin !== undefined && pin.workspaceId === at.workspaceId && pin.slug === at.slug ? pin : undefined;
  }

  return {
    get(at) {
      const pin = find(at, keyOf(at));
      return pin !== undefined && pin.untilMs > clock.now() ? pin.value : null;
    },
    pin(at, value) {
      const key = keyOf(at);
      const untilMs = clock.now() + ttlMs;
      const known = find(at, key);
      if (known === undefined) {
        const { workspaceId, slug } = at;
        pins[at.conversation.kind].set(key, { workspaceId, slug, value, untilMs });
        return;
      }
      // Looking it up has made it the latest; setting it anew would be most of what a request spends on its conversation.
      known.value = value;
      known.untilMs = untilMs;
    },
    hasOpenings: () => pins.opening.size > 0,
  };
}

/** Of an opening a number: to put a text of a hundred characters together and to hash it takes ten times as long. */
function keyOf({ workspaceId, slug, conversation }: StickyAddress): string | number {
  return conversation.kind === 'session'
    ? `${workspaceId} ${slug} ${conversation.key}`
    : fingerprintOf([workspaceId, slug], conversation.key);
}
