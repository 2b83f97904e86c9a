import type { Ask } from '../call/ask.ts';
import type { Facts } from '../call/facts.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { ProviderPreferences } from '../schema/chat/preferences.ts';
import type { TaskName } from '../schema/tasks.ts';
import { type Demands, demandsOf } from './filter.ts';
import { type Needs, needsOf } from './needs.ts';
import { requestedSlugs } from './slugs.ts';
import { requestedSort, type Sort } from './sort.ts';
import { type ToolMedia, toolMediaOf } from './tool-media.ts';

/** The parts of a request that routing reads, whatever the request is for. */
export interface Routed {
  readonly task: TaskName;
  /** The models, in order; at least one. */
  readonly slugs: readonly string[];
  readonly needs: Needs;
  /** null: the request demands nothing. */
  readonly demands: Demands | null;
  readonly preferences: ProviderPreferences | null;
  readonly sort: Sort;
  /** The name of the client's user; null: none. */
  readonly user: string | null;
  readonly serviceTier: string | null;
  /** Media in results of tools. */
  readonly media: ToolMedia;
  /** The chat request, by which routers choose; null: the task is another one, and no router serves it. */
  readonly chat: ChatRequest | null;
  /** true: fallbacks that the catalogue names for a model serve as well. */
  readonly hasModelFallbacks: boolean;
}

/** Reads a chat request. @throws GatewayError invalid_request (400) when no model is named */
export function routedChat(ask: Ask, { shortening }: Pick<Facts, 'shortening'>, defaultModel: string | null): Routed {
  const { request } = ask;
  return {
    task: 'chat',
    slugs: requestedSlugs(request, defaultModel),
    needs: needsOf(request, shortening?.isAsked),
    demands: demandsOf(ask),
    preferences: request.provider ?? null,
    sort: requestedSort(request),
    user: request.user ?? null,
    serviceTier: request.service_tier ?? null,
    media: toolMediaOf(ask.native),
    chat: request,
    hasModelFallbacks: true,
  };
}
