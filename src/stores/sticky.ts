import type { Clock } from '../base/clock.ts';
import { createFairCache } from '../base/fair-cache.ts';
import { fingerprintOf } from '../base/text/fingerprint.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { StickySettings } from '../schema/settings/settings.ts';

/**
 * Remembers the endpoint that a conversation used last, so that its next request finds a filled prompt cache. The
 * memory is in this process. Instances agree without a message, because the weighted random choice among endpoints is
 * the same for the same session. Only a change after a failure is known in this process alone. The end of the process
 * costs a cache miss. A workspace with many conversations pushes out its own, and none of another.
 */
export interface Sticky {
  /** @returns null: no success within the last minutes */
  get(at: StickyAddress): string | null;
  /** Pins the value after a success, until the time to live has passed without another success. */
  pin(at: StickyAddress, value: string): void;
  /** true: at least one conversation is pinned by its opening. If false, requests need not compute their opening. */
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
  const newPins = () => createFairCache<string | number, Pin>({ clock, max, idleMs: ttlMs });
  const pins = { session: newPins(), opening: newPins() };

  /** @returns undefined: no pin, or a pin of another workspace or model with the same number */
  function find(at: StickyAddress, key: string | number): Pin | undefined {
    const pin = pins[at.conversation.kind].get(key);
    return pin !== undefined && pin.workspaceId === at.workspaceId && pin.slug === at.slug ? pin : undefined;
  }

  return {
    get(at) {
      const pin = find(at, keyOf(at));
      return pin !== undefined && pin.untilMs > clock.monotonic() ? pin.value : null;
    },
    pin(at, value) {
      const key = keyOf(at);
      const untilMs = clock.monotonic() + ttlMs;
      const known = find(at, key);
      if (known === undefined) {
        const { workspaceId, slug } = at;
        pins[at.conversation.kind].set(workspaceId, key, { workspaceId, slug, value, untilMs });
        return;
      }
      // `get` has already made the pin the latest. Setting it again would cost more than all else about conversations.
      known.value = value;
      known.untilMs = untilMs;
    },
    hasOpenings: () => pins.opening.size > 0,
  };
}

/**
 * The key of a pin. An opening is a number: joining and hashing a text of a hundred characters would take ten times as
 * long.
 */
function keyOf({ workspaceId, slug, conversation }: StickyAddress): string | number {
  return conversation.kind === 'session'
    ? `${workspaceId} ${slug} ${conversation.key}`
    : fingerprintOf([workspaceId, slug], conversation.key);
}
