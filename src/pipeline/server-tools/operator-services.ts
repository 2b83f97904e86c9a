import { GatewayError } from '../../base/errors.ts';
import type { Call } from '../../call/call.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineDeps, RoutingDeps } from '../deps.ts';
import { type Offer, offerServerTools } from './offer.ts';

/**
 * Refuses a call of a workspace that uses its own credentials alone, before a service is asked that the operator pays:
 * search engines, OCR, a moderation endpoint, and every other service that a plugin holds money for.
 * @param service  such as `web search`
 * @throws GatewayError permission_denied (403); unavailable (503) where nobody knows
 */
export async function checkOperatorServices(
  deps: Pick<RoutingDeps, 'defaultsOf'>,
  call: Call,
  service: string,
): Promise<void> {
  if (!(await usesOwnAlone(deps, call))) return;
  throw new GatewayError(
    'permission_denied',
    `This workspace uses its own credentials alone (is_byok_only), and the ${service} is a service of the operator`,
    { metadata: { filter: 'byok_only' } },
  );
}

/**
 * Refuses the server tools of a request that use such a service, before a model is paid for. @throws the same errors
 */
export async function checkOffered(
  deps: Pick<RoutingDeps, 'defaultsOf'>,
  call: Call,
  { tools }: Pick<Offer, 'tools'>,
): Promise<void> {
  for (const { tool } of tools.values())
    if (tool.operatorService !== undefined) await checkOperatorServices(deps, call, tool.operatorService);
}

/** Refuses server tools that cannot be offered. @throws GatewayError invalid_request (400); permission_denied (403) */
export async function checkServerTools(
  deps: Pick<PipelineDeps, 'defaultsOf' | 'serverTools'>,
  call: Call,
  { tools = [] }: Pick<ChatRequest, 'tools'>,
): Promise<void> {
  await checkOffered(deps, call, offerServerTools({ messages: [], tools }, deps.serverTools));
}

/** true: no money of the operator's may be spent on a call. @throws GatewayError unavailable (503) */
export async function usesOwnAlone(
  { defaultsOf }: Pick<RoutingDeps, 'defaultsOf'>,
  { caller }: Call,
): Promise<boolean> {
  return caller.isByokOnly === true || (await defaultsOf(caller.workspaceId)).isByokOnly;
}
