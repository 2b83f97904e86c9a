import { seededRandom } from '../../base/random.ts';
import { sha256Hex } from '../../base/secrets.ts';
import { fingerprintOf } from '../../base/text/fingerprint.ts';
import type { Call } from '../../call/call.ts';
import { endpointKey } from '../../call/facts.ts';
import type { Plan, Target } from '../../call/plan.ts';
import type { ChatMessage, ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { Conversation as ConversationKey, Sticky } from '../../stores/sticky.ts';
import type { RoutingDeps } from '../deps.ts';

/** The conversation that a request belongs to: the endpoint that it used last, and the one that it will stay with. */
export class Conversation {
  /**
   * A number from 0 up to, but not including, 1, for the weighted random choice. With a session, the same numbers in
   * every instance.
   */
  readonly random: () => number;
  readonly #sticky: Sticky;
  readonly #call: Call;
  readonly #request: ChatRequest;
  /** false: the request orders its endpoints itself. */
  readonly #isSticky: boolean;
  /** The caller's own name of the conversation; null: the caller gives none. */
  readonly #name: string | null;
  #opening: ConversationKey | null = null;

  constructor({ sticky, random }: Pick<RoutingDeps, 'sticky' | 'random'>, call: Call, request: ChatRequest) {
    this.#sticky = sticky;
    this.#call = call;
    this.#request = request;
    this.#isSticky = (request.provider?.order?.length ?? 0) === 0;
    this.#name = call.sessionId ?? cacheKeyOf(request);
    this.random =
      this.#isSticky && this.#name !== null
        ? seededRandom(sha256Hex(`${call.caller.workspaceId} ${this.#name}`))
        : random;
  }

  /** Returns what the request names that several requests belong to: its session, its cache or its user; null: nothing. */
  keyNames(): readonly string[] | null {
    const { workspaceId, userId } = this.#call.caller;
    const name = this.#name ?? this.#request.user ?? userId ?? null;
    return name === null ? null : [workspaceId, name];
  }

  /** Returns the endpoint that served this model last; null: none did, or it is not known. Bound. */
  readonly pinned = (slug: string): string | null => {
    if (!this.#isSticky) return null;
    // A fingerprint is made only where some conversation was kept by one.
    if (this.#name === null && !this.#sticky.hasOpenings()) return null;
    return this.#sticky.get({ workspaceId: this.#call.caller.workspaceId, slug, conversation: this.#key() });
  };

  /**
   * Keeps the endpoint that served for the rest of the conversation. Without a name, a conversation is known by its
   * first messages, and is kept once it has profited from the provider's cache.
   * @param usage  the usage that the provider reported; null: it has reported none
   */
  keep(plan: Plan, target: Target, usage: Usage | null): void {
    if (!this.#isSticky || (this.#name === null && !profits(target, usage))) return;
    const { workspaceId } = this.#call.caller;
    const conversation = this.#key();
    const { modelSlug } = target.endpoint;
    this.#sticky.pin({ workspaceId, slug: modelSlug, conversation }, endpointKey(target.endpoint));
    if (plan.router !== null) this.#sticky.pin({ workspaceId, slug: plan.router, conversation }, modelSlug);
  }

  #key(): ConversationKey {
    if (this.#name !== null) return { kind: 'session', key: this.#name };
    // A forged fingerprint misleads only the requests of the same workspace, to an endpoint they might use anyway.
    this.#opening ??= { kind: 'opening', key: fingerprintOf(openingTexts(this.#request)) };
    return this.#opening;
  }
}

/** The most characters of a key that is kept as it is. A longer key is hashed: it is kept in memory. */
const maxCacheKeyChars = 256;

/** Returns the name that the caller gives to a prompt cache. It stands for the session where the request names none. */
function cacheKeyOf({ prompt_cache_key: key }: ChatRequest & { prompt_cache_key?: unknown }): string | null {
  if (typeof key !== 'string' || key === '') return null;
  return key.length > maxCacheKeyChars ? sha256Hex(key) : key;
}

function profits({ endpoint: { pricing } }: Target, usage: Usage | null): boolean {
  if ((usage?.prompt_tokens_details?.cached_tokens ?? 0) <= 0) return false;
  return pricing?.cacheReadPicoUsd !== undefined && pricing.cacheReadPicoUsd < pricing.promptPicoUsd;
}

/**
 * Returns the texts of the first system or developer message and of the first other one: they stay the same for as long
 * as a conversation goes on.
 */
function openingTexts({ messages }: ChatRequest): string[] {
  const texts: string[] = [];
  addTexts(texts, messages.find(isInstruction)?.content);
  addTexts(texts, messages.find(isNoInstruction)?.content);
  return texts;
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

function isNoInstruction(message: ChatMessage): boolean {
  return !isInstruction(message);
}

/** Adds a text, or the texts of parts: a picture counts as its text. */
function addTexts(texts: string[], content: unknown): void {
  if (typeof content === 'string') texts.push(content);
  else if (typeof content === 'object' && content !== null) {
    for (const value of Object.values(content)) addTexts(texts, value);
  } else texts.push('');
}
