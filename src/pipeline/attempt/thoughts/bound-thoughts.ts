import type { Clock } from '../../../base/clock.ts';
import { createFairCache } from '../../../base/fair-cache.ts';
import { isSame } from '../../../base/same.ts';
import { type CredentialRef, credentialKey, credentialOwner } from '../../../call/plan.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { ThoughtBindingSettings } from '../../../schema/chat/thought-bindings.ts';

/**
 * The credentials whose provider has refused a request for a thought that does not fit the messages before it. Further
 * requests tell the provider at once to drop such thoughts. A refusal depends on the account, and an account that does
 * not refuse them would lose thoughts by being told. The list is kept in this process; when it is lost, each credential
 * costs one more refused attempt.
 */
export interface RefusedThoughts {
  /** Notes that the provider has refused a thought. */
  add(credential: CredentialRef): void;
  has(credential: CredentialRef): boolean;
}

export function createRefusedThoughts(clock: Clock, { ttlMs, max }: ThoughtBindingSettings): RefusedThoughts {
  // A workspace may make any number of credentials, one after the other.
  const untilMs = createFairCache<string, number>({ clock, max, idleMs: ttlMs });
  return {
    add: (credential) => untilMs.set(credentialOwner(credential), credentialKey(credential), clock.monotonic() + ttlMs),
    has(credential) {
      const key = credentialKey(credential);
      const isSo = (untilMs.get(key) ?? 0) > clock.monotonic();
      if (!isSo) untilMs.delete(key);
      return isSo;
    },
  };
}

/**
 * true: the provider gets another conversation than the client has. Earlier thoughts may then be bound to parts that
 * the client does not send back. Plugins and guardrails have changed messages or tools, or there are tools whose steps
 * the client never sees.
 * @param asked  the request as the client sent it
 */
export function isOtherPrompt(asked: ChatRequest, sent: ChatRequest): boolean {
  // The results of the provider's own searches are left out of its responses.
  if ((sent.web_search_options ?? null) !== null) return true;
  return !areSame(asked.messages, sent.messages) || !areSame(asked.tools ?? none, sent.tools ?? none);
}

const none: readonly object[] = [];

/**
 * true: both lists hold the same, in other objects too, since a plugin may have copied the parts that it did not
 * change.
 */
function areSame(before: readonly object[], after: readonly object[]): boolean {
  if (before === after) return true;
  return before.length === after.length && before.every((one, at) => isSame(one, after[at]));
}
