import type { Call } from '../../call/call.ts';
import type { GenerationLog } from '../../call/generation.ts';
import { estimatePrompt } from '../../pricing/estimate.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { RateLimits } from '../../schema/tenants/rate-limits.ts';
import type { Admission, RateLimiter } from '../../stores/rates/limiter.ts';
import type { LimitedAccount } from '../../stores/rates/rates.ts';

/** The means to apply the rate limits of a call. */
export interface RateDeps {
  limiter: RateLimiter;
  /** Limits of an api key that has none of its own; null: none. */
  ofKeys: RateLimits | null;
  /** null: none. */
  ofWorkspace: (workspaceId: Call['caller']['workspaceId']) => RateLimits | null;
  /** The output, in tokens, of a request that names no largest output. */
  assumedOutputTokens: number;
}

type Limited = Pick<Call['caller'], 'apiKeyHash' | 'workspaceId' | 'rateLimits'>;

/**
 * Takes a request, a place in flight and the tokens of the first generation from the limits of the api key and of its
 * workspace: from all or from none. Asks and makes nothing where nothing is limited.
 * @returns null: nothing is limited, or the store does not respond and the call is served all the same
 * @throws GatewayError rate_limited (429), payload_too_large (413), unavailable (503)
 */
export function admit(deps: RateDeps, call: Call): Admission | null | Promise<Admission | null> {
  const accounts = accountsOf(deps, call.caller);
  if (accounts === null) return null;
  return deps.limiter.admit(call.caller.workspaceId, accounts, tokensOf(deps, call.ask.request, accounts));
}

/** Takes a request and a place in flight, for work that uses no tokens. @throws the errors of `admit` */
export function admitWithoutTokens(deps: RateDeps, call: Pick<Call, 'caller'>) {
  return admitWithTokens(deps, call, 0);
}

/** Takes a request, a place in flight and a number of tokens. @throws the errors of `admit` */
export function admitWithTokens(
  deps: RateDeps,
  { caller }: Pick<Call, 'caller'>,
  tokens: number,
): Admission | null | Promise<Admission | null> {
  const accounts = accountsOf(deps, caller);
  return accounts === null ? null : deps.limiter.admit(caller.workspaceId, accounts, tokens);
}

/** null: nothing is limited. */
function accountsOf(deps: RateDeps, caller: Limited): LimitedAccount[] | null {
  if (deps.ofKeys === null && caller.rateLimits === undefined && deps.ofWorkspace(caller.workspaceId) === null)
    return null;
  const accounts = limitedAccounts(deps, caller);
  return accounts.length === 0 ? null : accounts;
}

/** Returns the accounts that count a caller's calls: of the key, then of the workspace, each where it is limited. */
export function limitedAccounts({ ofKeys, ofWorkspace }: RateDeps, caller: Limited): LimitedAccount[] {
  const accounts: LimitedAccount[] = [];
  const { apiKeyHash, workspaceId, rateLimits } = caller;
  if (apiKeyHash !== null) {
    const limits = effectiveLimits(rateLimits, ofKeys);
    if (limits !== null) accounts.push({ account: `key:${apiKeyHash}`, ...limits });
  }
  const limits = ofWorkspace(workspaceId);
  if (limits !== null) accounts.push({ account: 'workspace', ...limits });
  return accounts;
}

/** Returns the limits of a key: its own, and the defaults where it has none. null: nothing limits it. */
export function effectiveLimits(own: RateLimits | undefined, preset: RateLimits | null): RateLimits | null {
  return limitsOrNull({
    requestsPerMinute: own?.requestsPerMinute ?? preset?.requestsPerMinute ?? null,
    tokensPerMinute: own?.tokensPerMinute ?? preset?.tokensPerMinute ?? null,
    requestsInFlight: own?.requestsInFlight ?? preset?.requestsInFlight ?? null,
  });
}

/** null: nothing is limited. */
export function limitsOrNull(limits: RateLimits): RateLimits | null {
  const { requestsPerMinute, tokensPerMinute, requestsInFlight } = limits;
  return requestsPerMinute === null && tokensPerMinute === null && requestsInFlight === null ? null : limits;
}

/** Takes the tokens of a further generation. @throws the errors of `admit` */
export async function admitFurther(
  deps: RateDeps,
  call: Call,
  admission: Admission,
  request: ChatRequest,
): Promise<void> {
  await admission.extend(tokensOf(deps, request, limitedAccounts(deps, call.caller)));
}

/**
 * Returns the tokens that generations have used, as reported, or estimated where nothing was reported. A failed attempt
 * that a provider may charge for has used its prompt: a client that leaves early does not use tokens for nothing.
 */
export function tokensUsed(generations: readonly Pick<GenerationLog, 'receipt' | 'request' | 'attempts'>[]): number {
  let tokens = 0;
  for (const { receipt, request, attempts } of generations) {
    tokens += receipt?.usage.total_tokens ?? 0;
    let charged = 0;
    for (const { costNanoUsd } of attempts) if (costNanoUsd > 0) charged++;
    if (charged > 0) tokens += charged * estimatePrompt(request);
  }
  return tokens;
}

/**
 * Returns the tokens that are held: an estimate of the prompt, and the largest output. An assumed output alone makes no
 * request too large. The tokens that are used in the end replace all of it.
 */
function tokensOf(
  { assumedOutputTokens }: RateDeps,
  request: ChatRequest,
  accounts: readonly LimitedAccount[],
): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { tokensPerMinute } of accounts) least = Math.min(least, tokensPerMinute ?? least);
  if (least === Number.POSITIVE_INFINITY) return 0;
  const prompt = estimatePrompt(request);
  const asked = request.max_completion_tokens ?? request.max_tokens;
  if (typeof asked === 'number') return prompt + asked;
  return prompt + Math.max(0, Math.min(assumedOutputTokens, least - prompt));
}
