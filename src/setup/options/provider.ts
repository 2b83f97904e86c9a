import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { type DialectName, dialects, type QuirksOf } from '../../dialects/index.ts';
import type { BuiltInSlug, ProviderSlug } from '../../providers/index.ts';
import { anyKey, keyOption, keyStrategies, mostKeys } from '../../providers/keys/options.ts';
import type { Provider } from '../../providers/provider.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import { type LateFields, madeFields, partFor } from '../../schema/late-fields.ts';
import { healthCheckSettingsSchema } from '../../schema/settings/health-check.ts';
import { dataPolicyOptions, slug } from './endpoint.ts';

type AnyQuirks = QuirksOf<DialectName>;

/** Dialects that are spoken over the network: the models of `ai-sdk` are handed in by `fromAiSdk`. */
type WireDialectName = Exclude<DialectName, 'ai-sdk'>;
const dialectNames = Object.keys(dialects).filter((name) => name !== 'ai-sdk') as [WireDialectName];

/** The quirks of any dialect. `configureProviders` checks them by the schema of the dialect, once that is known. */
const quirks = lazily(() =>
  z.custom<AnyQuirks>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: expectation('expected object'),
  }),
);

/** A provider that `defineProvider` made. */
const made = lazily(() =>
  z.custom<Provider>(
    (value) => typeof value === 'object' && value !== null && typeof (value as { auth?: unknown }).auth === 'function',
    { error: expectation('expected a provider') },
  ),
);

const providerFields = {
  /**
   * Slug of a built-in provider: this one is another account, region or dialect of it. It has the same address, way to
   * sign in, parts of the credential and quirks, and its models have the same prices.
   */
  like: () => (slug() as z.ZodType<string, ProviderSlug>).optional(),
  /**
   * The key; a built-in provider without a key is not used, a server with a `baseUrl` is called without a key. Blanks
   * and quotation marks around it, and `Bearer` before it, are left out; see docs/options-providers.md#slips-in-settings. Or a
   * function that returns the key, such as `clientCredentials`; see docs/self-hosted.md#keys-that-end.
   */
  apiKey: () => anyKey().optional(),
  /**
   * Several keys instead of `apiKey`: each a key or a function, or `{ key, label }`. Each key has cooldowns of its own; see
   * docs/self-hosted.md#several-keys. Up to 100.
   */
  apiKeys: () => z.array(keyOption()).min(1).max(mostKeys).optional(),
  /**
   * The key that a request begins with: `round-robin`, the next one; `least-loaded`, that with the fewest requests in
   * flight; `order`, the first in the list. A key in cooldown is passed over.
   * @default `round-robin`
   */
  keyStrategy: () => z.enum(keyStrategies).optional(),
  /**
   * Checks of the server beside what requests see, for a process that lives long; an empty object has all defaults. A
   * server that is down is passed over while others are up; see docs/self-hosted.md#health-checks.
   * @default none are made
   */
  healthCheck: () => healthCheckSettingsSchema().optional(),
  /**
   * The other parts of the credential by name, where the provider has several. A part that is undefined is left out;
   * where no secret is left, there is no credential.
   */
  credential: () => z.record(z.string(), z.string().min(1).optional()).optional(),
  /**
   * An http or https URL, everything before the path of the dialect, such as `/chat/completions`. A query, such as
   * `?api-version=2`, is kept behind that path; the values of parameters that hold a key by their name are redacted.
   * Slips are corrected; see docs/options-providers.md#slips-in-settings.
   * @default the built-in one for the dialect; needed where none is known (docs/providers.md#without-an-address)
   */
  baseUrl: () => z.url({ protocol: /^https?$/, error: expectation('expected an http or https URL') }).optional(),
  /**
   * true: the provider gets BYOK credentials (docs/workspaces.md#byok-credentials). At an address of your own, only
   * you know whether a wrong key is refused there, or served at your expense.
   * @default true at the built-in `baseUrl`, else false
   */
  byok: () => z.boolean().optional(),
  /**
   * true: for a client that speaks Responses over a WebSocket, one to the provider is kept as well, and its responses are
   * asked for over it; see docs/websockets.md#the-websocket-of-a-provider. The dialect must be `openai-responses`. Where
   * the provider opens none, they go by HTTP.
   * @default false
   */
  webSocket: () => z.boolean().optional(),
  /**
   * Shown as `provider` in responses.
   * @default the built-in one, else the slug; with `like`, the slug
   */
  name: () => z.string().min(1).optional(),
  /** Sent with every request that uses your own credential; never with a BYOK credential. */
  headers: () =>
    z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/, expectation('expected a header name')),
        z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, expectation('expected a header value')),
      )
      .optional(),
  /**
   * The wire format of the provider. A built-in provider that speaks several is called at the address for this one.
   * @default the built-in one, else `openai-chat`
   */
  dialect: () => z.enum(dialectNames).optional(),
  /**
   * The differences of the provider from its dialect; each quirk replaces the built-in quirk of that name.
   * @default the built-in ones
   */
  quirks: () => quirks().optional(),
  /**
   * The provider's treatment of the data of requests.
   * @default the built-in one, else unknown
   */
  dataPolicy: () => dataPolicyOptions().optional(),
} satisfies LateFields;

export const providerOptions = lazily(() => z.strictObject(madeFields(providerFields)));

type ProvidersSchema = z.ZodType<Record<string, z.output<ReturnType<typeof providerOptions>> | Provider>, Providers>;

export const providersOptions = lazily(
  (): ProvidersSchema => z.record(slug(), z.union([providerOptions(), made()])) as unknown as ProvidersSchema,
);

/** The part of the schema of the providers that some of them need. */
export function providersPart(given: readonly unknown[]): z.ZodType {
  const providers = given.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  return z.record(slug(), z.union([partFor(providerFields, providers), made()]));
}

/** A provider that the host app names: one that is built in, or its own server. */
export interface ProviderOptions extends z.input<ReturnType<typeof providerOptions>> {}

/** Providers by slug. Editors complete the slugs of those that are built in. */
export type Providers = { [Slug in BuiltInSlug]?: ProviderOptions | Provider } & {
  [slug: string]: ProviderOptions | Provider;
};
