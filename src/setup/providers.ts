import { secretsInUrl } from '../base/http/base-url.ts';
import type { Issue } from '../base/refusal.ts';
import { didYouMean, nearest } from '../base/text/nearest.ts';
import { isOnOneLine, isUnfilled, pastedKey } from '../base/text/pasted-key.ts';
import type { DataPolicy } from '../call/model.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { ApiKeySource } from '../providers/keys/api-key.ts';
import type { GivenKey, KeyStrategy } from '../providers/keys/options.ts';
import {
  type Credential,
  type CredentialShape,
  completeProvider,
  type Provider,
  usualAuth,
} from '../providers/provider.ts';
import { providerWithoutAddress, whyWithoutAddress } from '../providers/without-address.ts';
import { checkBy } from '../schema/schema.ts';
import {
  type HealthCheckOptions,
  type HealthCheckSettings,
  healthCheckSettingsSchema,
} from '../schema/settings/health-check.ts';
import { credentialOf } from './credential-parts.ts';
import { readAddress } from './options/base-url.ts';

/** The keys of a provider, as a host app gives them. */
interface KeySettings {
  apiKey?: string | ApiKeySource | undefined;
  apiKeys?: readonly GivenKey[] | undefined;
  keyStrategy?: KeyStrategy | undefined;
  credential?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The settings that a host app gives for a provider. */
export interface ProviderSettings extends KeySettings {
  like?: string | undefined;
  healthCheck?: HealthCheckOptions | undefined;
  baseUrl?: string | undefined;
  byok?: boolean | undefined;
  webSocket?: boolean | undefined;
  name?: string | undefined;
  headers?: Record<string, string> | undefined;
  dialect?: string | undefined;
  quirks?: object | undefined;
  dataPolicy?: DataPolicy | undefined;
}

/** A key of the operator. */
export interface ConfiguredKey {
  /**
   * The credential, with the headers that go only with it; `secret` is '' for none, and where a function returns the key.
   */
  credential: Credential;
  /** Returns the key at each moment; null: the credential holds it. */
  source: ApiKeySource | null;
}

/** One of several keys of the operator at a provider. */
export interface LabelledKey extends ConfiguredKey {
  label: string;
}

/** A provider with its configuration in this gateway, and the operator's own key. */
export interface Configured extends ConfiguredKey {
  provider: Provider;
  /** The keys, where the operator has set `apiKeys`; empty: there is at most one key, which is the credential above. */
  keys: readonly LabelledKey[];
  /** The order in which several keys are used. */
  keyStrategy: KeyStrategy;
  /** The checks of its server; null: none are made. */
  healthCheck: HealthCheckSettings | null;
  /** true: the provider gets the credentials that workspaces bring. */
  takesByok: boolean;
  /** true: the provider can serve a request without a credential of the caller. */
  isUsable: boolean;
  /** false: built in, and not set up by the operator. */
  isConfigured: boolean;
  /** true: made in code, by `defineProvider`. */
  isMade: boolean;
  /** true: the operator set `byok` to true. */
  saysByok: boolean;
  /** Slips in the settings that were corrected, each with the option and what was done. */
  corrections: readonly Correction[];
}

/** A slip in an option that was corrected. Holds no value. */
export interface Correction {
  option: string;
  message: string;
}

/**
 * Settings that contradict each other or what is built in; `path` names the setting, such as `providers.acme.baseUrl`.
 */
export class SettingsError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the process; none where there is no process. */
export function environment(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {};
}

/**
 * All providers by slug: those that the operator has set up, and the other built-in ones, which callers may use with
 * credentials of their own.
 * @param environment  may have the keys of providers made in code
 * @throws SettingsError
 */
export function configureProviders(
  given: Readonly<Record<string, ProviderSettings | Provider>>,
  builtIn: readonly Provider[],
  dialects: Readonly<Record<string, Dialect>>,
  environment: Environment = {},
): Map<string, Configured> {
  const configured = new Map<string, Configured>();
  for (const provider of builtIn)
    configured.set(provider.slug, {
      provider,
      credential: { secret: '' },
      source: null,
      keys: [],
      keyStrategy: 'round-robin',
      healthCheck: null,
      takesByok: true,
      isUsable: false,
      isConfigured: false,
      isMade: false,
      saysByok: false,
      corrections: [],
    });
  for (const [slug, settings] of Object.entries(given))
    configured.set(
      slug,
      'auth' in settings
        ? configureMade(slug, settings, environment, builtIn)
        : configureProvider(slug, settings, configured, dialects, builtIn),
    );
  return configured;
}

/** A provider made in code, by `defineProvider`. */
function configureMade(
  slug: string,
  made: Provider,
  environment: Environment,
  builtIn: readonly Provider[],
): Configured {
  if (made.slug !== slug)
    throw new SettingsError(`providers.${slug}`, 'expected the name that is the slug of the provider');
  const corrections: Correction[] = [];
  const apiKey = made.apiKey ?? keyIn(environment, made.env);
  const own = { ...(apiKey === undefined ? {} : { apiKey }), credential: made.credential };
  const keys = severalKeys(slug, made.credentialShape, made, corrections);
  const credential = keys[0]?.credential ?? operatorsCredential(slug, made.credentialShape, own, corrections);
  const takesByok = made.byok === true;
  let provider = made;
  if (typeof made.baseUrl === 'string' && made.createTransport === undefined) {
    const baseUrl = addressIn(slug, made.baseUrl, made.dialect.name, builtIn, corrections);
    if (baseUrl !== made.baseUrl) provider = { ...made, baseUrl };
    checkAddress(slug, baseUrl, takesByok);
  }
  return {
    provider,
    credential: credential ?? { secret: '' },
    source: sourceOf(apiKey),
    keys,
    keyStrategy: made.keyStrategy ?? 'round-robin',
    healthCheck: checkOf(slug, made),
    takesByok,
    isUsable: credential !== null || provider.env.length === 0 || provider.createTransport !== undefined,
    isConfigured: true,
    isMade: true,
    saysByok: takesByok,
    corrections,
  };
}

/** The address of a setting, with its slips corrected. @param corrections  gets what was corrected */
function addressIn(
  slug: string,
  baseUrl: string,
  dialect: string,
  builtIn: readonly Provider[],
  corrections: Correction[],
): string {
  const option = `providers.${slug}.baseUrl`;
  const read = readAddress(baseUrl, dialect, builtIn);
  if ('refused' in read) throw new SettingsError(option, read.refused);
  for (const message of read.corrections) corrections.push({ option, message });
  return read.url;
}

/** The value of the first variable that is set. */
function keyIn(environment: Environment, names: readonly string[]): string | undefined {
  try {
    for (const name of names) {
      const value = environment[name]?.trim();
      if (value) return value;
    }
  } catch {
    // Deno lets a program read only the variables for which it has permission.
  }
  return undefined;
}

/**
 * Refuses a key in the query: it would go with every request, also with those that use a workspace's own credential.
 */
function checkAddress(slug: string, baseUrl: string, takesByok: boolean): void {
  if (takesByok && secretsInUrl(baseUrl).length > 0)
    throw new SettingsError(
      `providers.${slug}.baseUrl`,
      'expected no key in the query where byok is true: it would go with the credentials of workspaces',
    );
}

function configureProvider(
  slug: string,
  given: ProviderSettings,
  known: ReadonlyMap<string, Configured>,
  dialects: Readonly<Record<string, Dialect>>,
  allBuiltIn: readonly Provider[],
): Configured {
  const builtIn =
    given.like === undefined ? known.get(slug)?.provider : likeAnother(slug, given.like, known, allBuiltIn);
  const { baseUrl, name, headers, dataPolicy } = given;
  const base =
    builtIn === undefined ? atOwnAddress(slug, given, known.keys(), dialects) : inDialect(builtIn, given, dialects);
  const corrections: Correction[] = [];
  const address =
    baseUrl === undefined ? base.baseUrl : addressIn(slug, baseUrl, base.dialect.name, allBuiltIn, corrections);
  const provider: Provider = {
    ...base,
    baseUrl: address,
    ...(name === undefined ? {} : { name }),
    ...(given.webSocket === undefined ? {} : { webSocket: given.webSocket }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
    quirks: { ...base.quirks, ...checkedQuirks(slug, base.dialect, given.quirks, dialects) },
    ...(base.credentialShape && baseUrl !== undefined ? { credentialShape: atAnyAddress(base.credentialShape) } : {}),
  };
  const ownHeaders = headers === undefined ? {} : { headers: inLowerCase(headers) };
  const keys = severalKeys(slug, provider.credentialShape, given, corrections).map((key) => ({
    ...key,
    credential: { ...key.credential, ...ownHeaders },
  }));
  const credential = keys[0]?.credential ?? operatorsCredential(slug, provider.credentialShape, given, corrections);
  // A server at an address of the operator's choice may add the operator's key to a request with a wrong one.
  const takesByok = given.byok ?? (builtIn !== undefined && address === base.baseUrl);
  if (typeof address === 'string') checkAddress(slug, address, takesByok);
  // A key that was never set must not turn into requests without one.
  const needsKey = builtIn !== undefined && baseUrl === undefined && provider.createTransport === undefined;
  return {
    provider,
    credential: { secret: '', ...credential, ...ownHeaders },
    source: sourceOf(given.apiKey),
    keys,
    keyStrategy: given.keyStrategy ?? 'round-robin',
    healthCheck: checkOf(slug, { ...provider, healthCheck: given.healthCheck }),
    takesByok,
    isUsable: credential !== null || !needsKey,
    isConfigured: true,
    isMade: false,
    saysByok: given.byok === true,
    corrections,
  };
}

/** A built-in provider under another slug. @throws SettingsError */
function likeAnother(
  slug: string,
  like: string,
  known: ReadonlyMap<string, Configured>,
  allBuiltIn: readonly Provider[],
): Provider {
  const path = `providers.${slug}.like`;
  if (allBuiltIn.some((one) => one.slug === slug) || providerWithoutAddress(slug) !== null)
    throw new SettingsError(path, 'expected no such setting, because this provider is built in itself');
  const found = allBuiltIn.find((one) => one.slug === like);
  if (found) return { ...found, slug, name: slug, like };
  throw new SettingsError(path, `expected the slug of a built-in provider${didYouMean(nearest(like, known.keys()))}`);
}

/** The parts of a credential for an address of the operator: parts that only form the built-in address are left out. */
function atAnyAddress(shape: CredentialShape): CredentialShape {
  const { ofAddress = [], oneOf } = shape;
  if (ofAddress.length === 0) return shape;
  const parts = Object.fromEntries(Object.entries(shape.parts).filter(([name]) => !ofAddress.includes(name)));
  const sets = oneOf?.map((set) => set.filter((name) => !ofAddress.includes(name)).join(' '));
  return { parts, ...(sets === undefined ? {} : { oneOf: [...new Set(sets)].map((set) => set.split(' ')) }) };
}

/** A built-in provider that speaks the dialect of the option. */
function inDialect(
  builtIn: Provider,
  { dialect: name, baseUrl }: ProviderSettings,
  dialects: Readonly<Record<string, Dialect>>,
): Provider {
  if (name === undefined || name === builtIn.dialect.name) return builtIn;
  const { slug, also = {} } = builtIn;
  const dialect = dialects[name] as Dialect;
  const address = Object.hasOwn(also, name) ? also[name] : undefined;
  const quirks = { ...sameInAllDialects(builtIn.quirks), ...address?.quirks };
  if (address !== undefined) return { ...builtIn, ...address, quirks, dialect };
  if (baseUrl !== undefined) return { ...builtIn, quirks, dialect };
  const known = [builtIn.dialect.name, ...Object.keys(also)].join(', ');
  throw new SettingsError(
    `providers.${slug}.baseUrl`,
    `expected a URL: no address is known at which this provider speaks ${name}; it is known to speak ${known}`,
  );
}

/**
 * Keeps the quirk that holds for every dialect: how a provider treats a stream that was left. Other quirks belong to
 * one dialect.
 */
function sameInAllDialects({ generatesOn }: { generatesOn?: unknown }): object {
  return generatesOn === undefined ? {} : { generatesOn };
}

/** A provider at an address that only the operator knows. @param known  slugs for a suggestion */
function atOwnAddress(
  slug: string,
  { baseUrl, dialect: name = 'openai-chat' }: ProviderSettings,
  known: Iterable<string>,
  dialects: Readonly<Record<string, Dialect>>,
): Provider {
  const listed = providerWithoutAddress(slug);
  if (baseUrl === undefined) {
    const why = listed ? whyWithoutAddress(listed) : `this provider is not built in${didYouMean(nearest(slug, known))}`;
    throw new SettingsError(`providers.${slug}.baseUrl`, `expected a URL: ${why}`);
  }
  const made = completeProvider({
    slug,
    baseUrl,
    dialect: dialects[name] as Dialect,
    auth: usualAuth(name),
  });
  if (listed === null) return made;
  const { serves: _, ...facts } = listed;
  return { ...made, ...facts };
}

/** The checks of a provider's server, with all defaults; null: none are made. */
function checkOf(slug: string, { healthCheck, createTransport }: Provider): HealthCheckSettings | null {
  if (healthCheck === undefined) return null;
  if (createTransport !== undefined)
    throw new SettingsError(`providers.${slug}.healthCheck`, 'expected none: this provider is inside the process');
  return healthCheckSettingsSchema().parse(healthCheck, { jitless: true });
}

function sourceOf(apiKey: string | ApiKeySource | undefined): ApiKeySource | null {
  return typeof apiKey === 'function' ? apiKey : null;
}

/**
 * Makes the operator's credential. Where a function returns the key, the secret is '', and the other parts are checked.
 * @param corrections  gets what was corrected
 * @param option       the name of the option that has the key
 * @returns null: none is set
 */
function operatorsCredential(
  slug: string,
  shape: CredentialShape | undefined,
  own: Pick<KeySettings, 'credential'> & { apiKey?: string | ApiKeySource | undefined },
  corrections: Correction[],
  option = 'apiKey',
): Credential | null {
  const { apiKey, credential } = own;
  if (typeof apiKey !== 'function') return staticCredential(slug, shape, own as StaticSettings, corrections, option);
  const settings = { apiKey: anyKey, credential };
  const made = staticCredential(slug, shape && withAnyKey(shape), settings, corrections, option);
  return { ...made, secret: '' };
}

/**
 * Makes the keys of the option `apiKeys`.
 * @returns empty: the option is not set
 * @throws SettingsError for a key or a label that occurs twice, and for options that exclude each other
 */
function severalKeys(
  slug: string,
  shape: CredentialShape | undefined,
  { apiKey, apiKeys, keyStrategy, credential }: KeySettings,
  corrections: Correction[],
): LabelledKey[] {
  const at = `providers.${slug}`;
  if (apiKeys === undefined) {
    if (keyStrategy === undefined) return [];
    throw new SettingsError(`${at}.keyStrategy`, 'expected none without apiKeys');
  }
  if (apiKey !== undefined)
    throw new SettingsError(`${at}.apiKey`, 'expected none beside apiKeys, which holds all keys');
  const keys: LabelledKey[] = [];
  for (const [index, given] of apiKeys.entries()) {
    const { key, label = `key-${index + 1}` } = typeof given === 'object' ? given : { key: given };
    const option = `apiKeys[${index}]`;
    if (keys.some((other) => other.label === label))
      throw new SettingsError(`${at}.${option}.label`, 'expected a label that no other key of the provider has');
    const own = operatorsCredential(slug, shape, { apiKey: key, credential }, corrections, option) as Credential;
    const source = sourceOf(key);
    const isTwice = keys.some((other) => (source ?? own.secret) === (other.source ?? other.credential.secret));
    if (isTwice) throw new SettingsError(`${at}.${option}`, 'expected a key that is not in the list yet');
    keys.push({ label, credential: own, source });
  }
  return keys;
}

/** It stands for a key that only a function knows. */
const anyKey = 'any-key';

function withAnyKey(shape: CredentialShape): CredentialShape {
  const { apiKey } = shape.parts;
  if (apiKey?.pattern === undefined) return shape;
  const { pattern: _, ...anyForm } = apiKey;
  return { ...shape, parts: { ...shape.parts, apiKey: anyForm } };
}

/** `apiKey` that is there and undefined comes from a variable that nobody has set. */
type StaticSettings = Pick<KeySettings, 'credential'> & { apiKey?: string | undefined };

function staticCredential(
  slug: string,
  shape: CredentialShape | undefined,
  settings: StaticSettings,
  corrections: Correction[],
  option: string,
): Credential | null {
  const { apiKey: given } = settings;
  const parts = partsOf(shape, settings);
  const apiKey = given === undefined ? undefined : keyOf(`providers.${slug}.${option}`, given, shape, corrections);
  if (shape === undefined) {
    if (parts !== undefined)
      throw new SettingsError(
        `providers.${slug}.credential`,
        'expected apiKey instead: the credentials of this provider have no further parts',
      );
    return apiKey === undefined ? null : { secret: apiKey };
  }
  if (apiKey === undefined && parts === undefined) return null;
  const read = credentialOf(shape, { ...parts, ...(apiKey === undefined ? {} : { apiKey }) });
  if (!('issues' in read)) return read.credential;
  const { path, message } = read.issues[0] as Issue;
  const at = `providers.${slug}`;
  if (path === '') throw new SettingsError(`${at}.credential`, message);
  throw new SettingsError(path === 'apiKey' ? `${at}.${option}` : `${at}.credential.${path}`, message);
}

/**
 * The parts of a setting that are defined. Parts from variables that nobody has set are as a key that nobody has set:
 * where no secret is left, the operator has no credential.
 */
function partsOf(shape: CredentialShape | undefined, settings: StaticSettings): Record<string, string> | undefined {
  const { apiKey, credential } = settings;
  if (credential === undefined) return undefined;
  const entries = Object.entries(credential);
  const defined = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isUnset = defined.length < entries.length || (Object.hasOwn(settings, 'apiKey') && apiKey === undefined);
  const hasSecret = apiKey !== undefined || defined.some(([name]) => shape?.parts[name]?.isSecret !== false);
  return isUnset && !hasSecret ? undefined : Object.fromEntries(defined);
}

/** The key of a setting, without what was copied with it. */
function keyOf(option: string, given: string, shape: CredentialShape | undefined, corrections: Correction[]): string {
  // A pattern of its own, as of a key of several lines, is for the check of the parts.
  if (shape?.parts.apiKey?.pattern?.test(given)) return given;
  const { key, leftOut } = pastedKey(given);
  if (isUnfilled(key))
    throw new SettingsError(option, 'expected the key itself: this is the name of a variable, or no value');
  if (!isOnOneLine(key) && shape?.parts.apiKey?.pattern === undefined)
    throw new SettingsError(option, expectedKey(shape));
  for (const one of leftOut) corrections.push({ option, message: `${one} was left out of the key` });
  return key;
}

function expectedKey(shape: CredentialShape | undefined): string {
  return `expected ${shape?.parts.apiKey?.expected ?? 'a key'} of visible ASCII characters on one line`;
}

/** Checks quirks by the schema of the dialect. The provider may have chosen the dialect, rather than the option. */
function checkedQuirks(
  slug: string,
  dialect: Dialect,
  quirks: object | undefined,
  dialects: Readonly<Record<string, Dialect>>,
): object {
  // No quirk of a dialect of ours has a default.
  if (quirks === undefined && Object.values(dialects).includes(dialect)) return {};
  const checked = checkBy(dialect.quirks(), quirks ?? {});
  if (checked.issues === null) return checked.value;
  const { path, message } = checked.issues[0] as Issue;
  throw new SettingsError(`providers.${slug}.quirks${path === '' ? '' : `.${path}`}`, message);
}

function inLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
