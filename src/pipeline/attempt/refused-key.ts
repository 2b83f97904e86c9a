import { UpstreamError } from '../../base/http/upstream-error.ts';
import { maskSecret } from '../../base/secrets.ts';
import type { Target } from '../../call/plan.ts';
import type { Credential } from '../../providers/provider.ts';
import { keyRefOf } from '../../routing/key-ring.ts';

/** A key that a provider refused, as a log shows it. */
export interface RefusedKey {
  /** Slug of the provider. */
  provider: string;
  /** Slug of the endpoint, and the provider's name of the model. */
  endpoint: string;
  model: string;
  /** HTTP status of the provider. */
  status: number;
  /** The key, masked; absent: the credential has none. */
  key?: string;
  /** Label of the key, where the operator has several at the provider. */
  label?: string;
  /** Id of the workspace whose own key it is; absent: it is the operator's. */
  workspaceId?: string;
  /** The thing that an operator can do about it. */
  todo: string;
}

export type ReportRefusedKey = (refused: RefusedKey) => void;

/** Describes the key that a provider refused; null: the failure is another one, or nothing was sent. */
export function refusedKeyIn(error: unknown, target: Target, { secret }: Credential): RefusedKey | null {
  if (!(error instanceof UpstreamError) || error.fault !== 'operator' || error.isUnsent) return null;
  const { endpoint, isByok, workspaceId, credential } = target;
  const label = keyRefOf(credential)?.key;
  return {
    provider: endpoint.providerSlug,
    endpoint: endpoint.tag,
    model: endpoint.upstreamModel,
    status: error.status,
    ...(secret === '' ? {} : { key: maskSecret(secret) }),
    ...(label === undefined ? {} : { label }),
    ...(isByok ? { workspaceId } : {}),
    todo: todoFor(error.status, endpoint.providerSlug, isByok),
  };
}

function todoFor(status: number, provider: string, isByok: boolean): string {
  if (status === 402 || status === 429) return 'pay the bill of this account, or raise its limit, at the provider';
  if (status === 403) return 'let the key use this model at the provider, or use another key, region or project';
  return isByok
    ? 'the workspace has to replace its credential'
    : `set a key that the provider knows in providers.${provider}`;
}
