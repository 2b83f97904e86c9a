import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { fingerprintOf } from '../base/fingerprint.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { StickySettings } from '../schema/settings.ts';

/**
 * The endpoint that a conversation used last, so that its next request finds a filled prompt cache. Kept in this
 * process. Instances agree without a message, because the weighted random choice among endpoints is the same for the
 * same session. Only a change after a failure is known in this process alone. The data is lost with the process, which
 * costs a cache miss.
 */
export interface Sticky {
  /** @returns null: no success within the last minutes */
  get(at: StickyAddress): string | null;
  /** To be called after a success. Pins the value until the time to live has passed without another success. */
  pin(at: StickyAddress, value: string): void;
  /** Whether any conversation is pinned by its opening. If not, requests need not compute their opening. */
  hasOpenings(): boolean;
}

export interface StickyAddress {
  workspaceId: WorkspaceId;
  /** The slug of a model or a router. */
  slug: string;
  conversation: Conversation;
}

/** The name of a conversation: the caller's own session id, or a fingerprint of the conversation's beginning. */
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
  // `maxSize` instead of `max`: for `max`, the cache would reserve memory at the start, 6 MB for two caches.
  const newPins = () => new LRUCache<string | number, Pin>({ maxSize: max, sizeCalculation: () => 1 });
  const pins = { session: newPins(), opening: newPins() };

  /** @returns undefined: none, or a pin of another workspace or model whose number happens to be the same */
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
      // `get` has already made the pin the latest. Setting it again would cost more than all else about conversations.
      known.value = value;
      known.untilMs = untilMs;
    },
    hasOpenings: () => pins.opening.size > 0,
  };
}

/** An opening is a number: joining and hashing a text of a hundred characters would take ten times as long. */
function keyOf({ workspaceId, slug, conversation }: StickyAddress): string | number {
  return conversation.kind === 'session'
    ? `${workspaceId} ${slug} ${conversation.key}`
    : fingerprintOf([workspaceId, slug], conversation.key);
}
