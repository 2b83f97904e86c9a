import type { DataPolicy } from '../call/model.ts';
import { type Auth, inHeader } from './provider.ts';

/**
 * A provider that is known by name, but without an address that speaks a dialect of this gateway. The operator sets the
 * address. Without an address, nothing is sent to the provider, and no credential is stored for it.
 */
export interface ProviderWithoutAddress {
  /** As in `Provider`. */
  slug: string;
  /** As in `Provider`. */
  name: string;
  /** As in `Provider`. */
  env: readonly string[];
  /** The way to send the key. Absent: not known. */
  auth?: Auth;
  /** As in `Provider`. */
  dataPolicy: DataPolicy;
  /** The kind of service, if it is not chat; null: it serves chat, at an address that is not known. */
  serves: string | null;
}

/**
 * Providers in the closed list for BYOK credentials that no dialect reaches: public facts as of November 2026. No
 * address is guessed, because a key goes to it.
 */
export const providersWithoutAddress = [
  without('black-forest-labs', 'Black Forest Labs', 'images', { env: ['BFL_API_KEY'], auth: inHeader('x-key') }),
  without('decart', 'Decart', 'images and video', { env: ['DECART_API_KEY'], auth: inHeader('x-api-key') }),
  without('heygen', 'HeyGen', 'video', { env: ['HEYGEN_API_KEY'], auth: inHeader('x-api-key') }),
  without('inferact-vllm', 'Inferact vLLM', null),
  without('ionstream', 'Ionstream', null),
  without('modelrun', 'ModelRun (by Modular)', null),
  without('nex-agi', 'Nex AGI', null, { dataPolicy: { zeroRetention: false, trains: false } }),
  without('quiver', 'QuiverAI', 'images', { env: ['QUIVERAI_API_KEY'] }),
  without('recraft', 'Recraft', 'images', { env: ['RECRAFT_API_KEY'] }),
  without('seed', 'ByteDance Seed', null),
  without('sourceful', 'Sourceful (Riverflow)', 'images', { auth: inHeader('x-api-key') }),
] satisfies readonly ProviderWithoutAddress[];

const bySlug: ReadonlyMap<string, ProviderWithoutAddress> = new Map(
  providersWithoutAddress.map((provider) => [provider.slug, provider]),
);

/** @returns null: the slug is of no such provider */
export function providerWithoutAddress(slug: string): ProviderWithoutAddress | null {
  return bySlug.get(slug) ?? null;
}

/** The reason why the operator has to set the address, as the end of a sentence. */
export function whyWithoutAddress({ serves }: ProviderWithoutAddress): string {
  return serves === null
    ? 'no address of this provider is known'
    : `this provider is known to serve ${serves} alone, at no address for chat`;
}

function without<const Slug extends string>(
  slug: Slug,
  name: string,
  serves: string | null,
  more: Partial<Pick<ProviderWithoutAddress, 'env' | 'auth' | 'dataPolicy'>> = {},
): ProviderWithoutAddress & { slug: Slug } {
  return { slug, name, serves, env: [], dataPolicy: { zeroRetention: null, trains: null }, ...more };
}
