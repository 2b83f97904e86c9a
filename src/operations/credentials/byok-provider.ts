import type { GatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import { didYouMean, nearest } from '../../base/text/nearest.ts';
import { providerWithoutAddress, whyWithoutAddress } from '../../providers/without-address.ts';
import { byokProviders } from '../../schema/tenants/byok-providers.ts';

/** The state of a provider in this gateway. */
export interface ByokProvider {
  /** true: the provider gets the credentials of workspaces. */
  takesByok: boolean;
  /** false: built in, and not set up by the operator. */
  isConfigured: boolean;
}

/** The providers that this gateway knows, without sandboxes. */
export type ByokProviders = ReadonlyMap<string, ByokProvider>;

const closedList: ReadonlySet<string> = new Set(byokProviders);

/**
 * Checks that a workspace can bring a credential for a provider: one of the closed list, or one that the operator has
 * set up beside them.
 * @throws GatewayError invalid_request (400)
 */
export function checkByokProvider(slug: string, known: ByokProviders): void {
  // The list is the contract. Routing and `doctor` tell why a credential is not used.
  if (closedList.has(slug)) return;
  const found = known.get(slug);
  if (!found?.isConfigured) throw unknown(slug, known);
  if (!found.takesByok)
    throw refused(`expected another provider: this gateway sends "${slug}" no credentials of workspaces`);
}

/** The reason why a provider gets no credentials of workspaces; null: it gets them. */
export function whyNotSent(slug: string, known: ByokProviders): string | null {
  const found = known.get(slug);
  if (found?.takesByok) return null;
  if (found) return 'this gateway sends its provider no credentials of workspaces';
  const listed = providerWithoutAddress(slug);
  return `${listed ? whyWithoutAddress(listed) : 'this gateway does not know the provider'}, and the operator has set none`;
}

/** Checks a slug that only selects stored credentials. @throws GatewayError invalid_request (400) */
export function checkKnownProvider(slug: string, known: ByokProviders): void {
  if (!closedList.has(slug) && !known.get(slug)?.isConfigured) throw unknown(slug, known);
}

function unknown(slug: string, known: ByokProviders): GatewayError {
  const takers = [...known].filter(([, { takesByok }]) => takesByok).map(([name]) => name);
  return refused(
    `expected the slug of a provider that takes credentials of workspaces${didYouMean(nearest(slug, takers)) || ', such as "openai"'}`,
  );
}

function refused(message: string): GatewayError {
  return refusal('invalid_request', [{ path: 'provider', message }]);
}
