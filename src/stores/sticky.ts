import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import type { WorkspaceId } from '../call/workspace.ts';

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

/** What names a conversation: the caller's own key for it, or a hash of how it began. */
export interface Conversation {
  kind: 'session' | 'opening';
  key: string;
}

export interface StickyOptions {
  clock: Clock;
  /** How long after its last success a conversation is remembered. */
  ttlMs: number;
  /** Conversations that are remembered; of more, the latest. */
  max: number;
}

interface Pin {
  value: string;
  untilMs: number;
}

export function createSticky({ clock, ttlMs, max }: StickyOptions): Sticky {
  // Bounded by a size, not by `max`, for which the cache would set aside memory from the start: 6 MB for two of them.
  const newPins = () => new LRUCache<string, Pin>({ maxSize: max, sizeCalculation: () => 1 });
  const pins = { session: newPins(), opening: newPins() };
  const keyOf = ({ workspaceId, slug, conversation }: StickyAddress) => `${workspaceId} ${slug} ${conversation.key}`;
  return {
    get(at) {
      const pin = pins[at.conversation.kind].get(keyOf(at));
      return pin && pin.untilMs > clock.now() ? pin.value : null;
    },
    pin(at, value) {
      pins[at.conversation.kind].set(keyOf(at), { value, untilMs: clock.now() + ttlMs });
    },
    hasOpenings: () => pins.opening.size > 0,
  };
}
