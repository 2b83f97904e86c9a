import { fingerprintOf } from '../base/fingerprint.ts';
import { seededRandom } from '../base/random.ts';
import { sha256Hex } from '../base/secrets.ts';
import type { Call } from '../call/call.ts';
import { endpointKey } from '../call/facts.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { ChatMessage, ChatRequest, Usage } from '../schema/chat.ts';
import type { Conversation } from '../stores/sticky.ts';
import type { PipelineDeps } from './deps.ts';

/** What a plan is told of the conversation a request belongs to. */
export interface Remembered {
  pinned: (slug: string) => string | null;
  random: () => number;
}

/**
 * What the conversation used last; with a session of its own also the numbers its draws go by, the same in every
 * instance.
 */
export function remember({ sticky, random }: PipelineDeps, call: Call): Remembered {
  if ((call.request.provider?.order?.length ?? 0) > 0) return { pinned: () => null, random };
  const { workspaceId } = call.caller;
  if (call.sessionId === null) {
    if (!sticky.hasOpenings()) return { pinned: () => null, random };
    // Asked for only where there is something to choose.
    return { pinned: (slug) => sticky.get({ workspaceId, slug, conversation: openingOf(call) }), random };
  }
  const conversation: Conversation = { kind: 'session', key: call.sessionId };
  return {
    pinned: (slug) => sticky.get({ workspaceId, slug, conversation }),
    random: seededRandom(sha256Hex(`${workspaceId} ${call.sessionId}`)),
  };
}

/**
 * Keeps the endpoint that served for the rest of the conversation. Without a session of its own, a conversation is known
 * by how it began, and kept once it was seen to profit from the provider's cache.
 * @param usage  as the provider reported it; null: it did not
 */
export function keep({ sticky }: PipelineDeps, call: Call, plan: Plan, target: Target, usage: Usage | null): void {
  if ((call.request.provider?.order?.length ?? 0) > 0) return;
  const { workspaceId } = call.caller;
  const { sessionId } = call;
  if (sessionId === null && !profits(target, usage)) return;
  const conversation: Conversation = sessionId === null ? openingOf(call) : { kind: 'session', key: sessionId };
  const { modelSlug } = target.endpoint;
  sticky.pin({ workspaceId, slug: modelSlug, conversation }, endpointKey(target.endpoint));
  if (plan.router !== null) sticky.pin({ workspaceId, slug: plan.router, conversation }, modelSlug);
}

function profits({ endpoint: { pricing } }: Target, usage: Usage | null): boolean {
  if ((usage?.prompt_tokens_details?.cached_tokens ?? 0) <= 0) return false;
  return pricing?.cacheReadPicoUsd !== undefined && pricing.cacheReadPicoUsd < pricing.promptPicoUsd;
}

/** The first system or developer message and the first other one: what stays the same for as long as a conversation goes on. */
function openingOf(call: Call): Conversation {
  call.opening ??= fingerprintOf(openingTexts(call.request));
  // Who forges one misleads nobody but the requests of the same workspace, to an endpoint it might use anyway.
  return { kind: 'opening', key: call.opening };
}

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

/** A text, or parts that hold some: also pictures are texts here. */
function addTexts(texts: string[], content: unknown): void {
  if (typeof content === 'string') texts.push(content);
  else if (typeof content === 'object' && content !== null) {
    for (const value of Object.values(content)) addTexts(texts, value);
  } else texts.push('');
}
