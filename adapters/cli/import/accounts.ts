import { builtInProviders } from '../../../src/index.ts';
import type { Source, Written } from '../config-source.ts';

/** An account at a provider: what one entry of the option `providers` says. */
export interface Account {
  /** The built-in provider; null: a server of the user's own, which `baseUrl` names. */
  like: string | null;
  /** The slug that it gets where it is free. Default: that of the built-in provider, with its dialect. */
  wanted?: string | undefined;
  dialect?: string | undefined;
  baseUrl?: Written;
  apiKey?: Written;
  credential?: Record<string, Written> | Source | undefined;
  headers?: Record<string, Written> | undefined;
  quirks?: Written;
}

/** Collects the providers of the new config, one for each account. */
export interface Accounts {
  /** The option `providers`. */
  readonly options: Readonly<Record<string, Written>>;
  /** @returns the slug of the account in the new config */
  slugOf(account: Account): string;
}

const builtIn = new Map(builtInProviders.map((provider) => [provider.slug, provider]));

export function createAccounts(): Accounts {
  const options: Record<string, Written> = {};
  const slugs = new Map<string, string>();
  // Numbers that are used up: a file may have thousands of accounts.
  const numbers = new Map<string, number>();
  const freeSlug = ({ like, wanted, dialect }: Account): string => {
    const usual = like === null ? 'server' : dialect === undefined ? like : `${like}-${shortName(dialect)}`;
    const base = slugForm(wanted ?? usual) ?? usual;
    for (let at = numbers.get(base) ?? 1; ; at++) {
      numbers.set(base, at);
      const slug = at === 1 ? base : `${base}-${at}`;
      // A built-in slug keeps its meaning.
      if (!Object.hasOwn(options, slug) && (slug === like || !builtIn.has(slug))) return slug;
    }
  };
  return {
    options,
    slugOf(account) {
      const isUsual = account.wanted === account.like && account.dialect === undefined;
      const id = JSON.stringify(isUsual ? { ...account, wanted: undefined } : account);
      const known = slugs.get(id);
      if (known !== undefined) return known;
      const slug = freeSlug(account);
      slugs.set(id, slug);
      const { like, wanted: _, ...settings } = account;
      options[slug] = { ...(like === null || like === slug ? {} : { like }), ...settings };
      return slug;
    },
  };
}

/** A name as a slug of a provider; null: nothing is left of it. */
export function slugForm(name: string): string | null {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$|[-.]+(?=[-.])/g, '')
    .slice(0, 64);
  return slug === '' ? null : slug;
}

/** A name for a server at an address: a part of its host. */
export function serverName(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return 'server';
  const { hostname } = new URL(address);
  if (hostname === 'localhost' || /^[\d.:[\]]+$/.test(hostname)) return 'local';
  const labels = hostname.split('.').filter((label) => !/^(?:www|api|inference|llm)$/.test(label));
  return slugForm(labels[0] ?? 'server') ?? 'server';
}

function shortName(dialect: string): string {
  return dialect.replace(/^.*-(?=[a-z]+$)/, '');
}

/** The usual variable of a built-in provider's key. */
export function usualKey(slug: string): string | undefined {
  return builtIn.get(slug)?.env[0];
}

export function isBuiltIn(slug: string): boolean {
  return builtIn.has(slug);
}

/** The request fields that a provider is not sent, with some more: the quirk replaces the built-in one. */
export function dropping(like: string | null, names: readonly string[]): Written {
  const own = like === null ? undefined : (builtIn.get(like)?.quirks as { dropParams?: readonly string[] } | undefined);
  return { dropParams: [...new Set([...(own?.dropParams ?? []), ...names])] };
}

/** Tells whether a provider speaks chat completions, as dropping needs. */
export function speaksChat(like: string | null): boolean {
  return like === null || builtIn.get(like)?.dialect.name === 'openai-chat';
}
