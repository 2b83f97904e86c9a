import type { GatewayError } from '../../base/errors.ts';
import { didYouMean, nearest } from '../../base/nearest.ts';
import { refusal } from '../../base/refusal.ts';
import { byokProviders } from '../../schema/byok-providers.ts';

/** How this gateway stands to a provider. */
export interface ByokProvider {
  /** true: it is sent the credentials of workspaces. */
  takesByok: boolean;
  /** false: built in, and not set up by the operator. */
  isConfigured: boolean;
}

/** The providers that this gateway knows, without sandboxes. */
export type ByokProviders = ReadonlyMap<string, ByokProvider>;

const closedList: ReadonlySet<string> = new Set(byokProviders);

/**
 * Which providers a workspace can bring a credential for: those of the closed list that this gateway can call, and
 * those that the operator set up beside them.
 * @throws GatewayError invalid_request (400): a credential that would never be used is not stored
 */
export function checkByokProvider(slug: string, known: ByokProviders): void {
  const found = known.get(slug);
  if (closedList.has(slug)) {
    if (found === undefined)
      throw refused(
        `expected a provider that this gateway can call: it knows no address of "${slug}", and the operator has set none`,
      );
    // Where the operator's own address or `byok: false` stands in the way, the routing metadata tells of it.
    return;
  }
  if (!found?.isConfigured) throw unknown(slug, known);
  if (!found.takesByok)
    throw refused(`expected another provider: this gateway sends "${slug}" no credentials of workspaces`);
}

/** The same of a slug that only asks for what is stored. @throws GatewayError invalid_request (400) */
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
