import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { openaiChat } from '../../../src/dialects/openai-chat/index.ts';
import type { ChatQuirks } from '../../../src/dialects/openai-chat/quirks.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import type { Credential, Provider } from '../../../src/providers/provider.ts';
import { registry } from '../../../src/providers/registry.ts';
import { providersWithoutAddress } from '../../../src/providers/without-address.ts';
import { checkBy } from '../../../src/schema/schema.ts';
import { byokProviders } from '../../../src/schema/tenants/byok-providers.ts';
import { dialects } from '../../support/dialects.ts';
import { describeWithShared, sharedPath } from '../../support/reference.ts';

/** What is known of a provider, with its sources, in the collection of facts beside the project. */
interface Facts {
  slug: string;
  displayName: string;
  endpoints: { dialect: string; baseUrl: string | null; path: string | null }[];
  auth: { style: string | null; header: string | null; env: string[] };
  compat: null | {
    unsupportedParams?: string[];
    maxTokensField?: string;
    minOutputTokens?: string;
    supportsDeveloperRole?: boolean;
    reasoningReplay?: string;
    renamedParams?: Record<string, string>;
  };
  dataPolicy: null | { zdr: boolean | null; trainsOnData: boolean | null };
}

/** They have a file of their own, and tests of their own beside it. */
const inOwnFiles = new Set([
  'amazon-bedrock',
  'anthropic',
  'azure',
  'cohere',
  'google-ai-studio',
  'google-vertex',
  'sandbox',
]);

/** Where a provider is not as the facts have it, by slug and field, and why. */
const exceptions: Record<string, string> = {
  'cloudflare name': 'responses name the company; Workers AI is its product',
  'cloudflare env': 'the account is a part of the credential, and has its variable there',
  'minimax baseUrl': 'chat completions are usual here too, so that requests pass through; `dialect` chooses the other',
  'inflection baseUrl': 'its own dialect comes first in the facts, and is none of this gateway',
  'relace baseUrl': 'the facts leave the path open; docs.relace.ai/api-reference/instant-apply/apply names it',
  'deepseek auth of anthropic-messages': 'its documentation lists x-api-key as the header that is supported',
  'minimax auth of anthropic-messages': 'the facts say so in words: x-api-key on the Anthropic path',
  'cerebras reasoningField': 'the facts name a field that it refuses; it takes back the one it sends, `reasoning`',
  'novita reasoningField': 'not in the facts; its documentation wants reasoning_content with tool results',
  'fireworks reasoningField': 'not in the facts; its documentation takes reasoning_content back',
  'minimax reasoningField': 'not in the facts; its documentation wants reasoning_details back',
};

/** Providers beside those of the closed list: they serve other tasks than chat. */
const beside: ReadonlySet<string> = new Set(['jina', 'voyage']);

const record = byokProviders.filter((slug) => !inOwnFiles.has(slug));

describeWithShared('the registry', () => {
  const facts = JSON.parse(readFileSync(sharedPath('data/providers.json'), 'utf8')) as Facts[];
  const bySlug = new Map(facts.map((one) => [one.slug, one]));
  const used = new Set<string>();
  /** An exception that is none any more fails too. */
  const compare = (slug: string, field: string, actual: unknown, expected: unknown) => {
    const key = `${slug} ${field}`;
    if (!Object.hasOwn(exceptions, key)) return expect([key, actual]).toEqual([key, expected]);
    used.add(key);
    expect([key, actual]).not.toEqual([key, expected]);
  };
  const factsOf = (slug: string) => bySlug.get(slug) as Facts;

  it('and the facts are about the same providers', () => {
    expect(facts.map(({ slug }) => slug)).toEqual(byokProviders);
  });
  it('has every provider of the closed list, with an address or without, but those in files of their own', () => {
    const known = [...registry, ...providersWithoutAddress].map(({ slug }) => slug);
    const listed = [...known, 'cloudflare'].filter((slug) => !inOwnFiles.has(slug) && !beside.has(slug));
    expect(listed.toSorted()).toEqual(record);
    expect(new Set(builtInProviders.map(({ slug }) => slug)).size).toBe(builtInProviders.length);
  });
  it('has no address for those of which the facts have none that a dialect reaches', () => {
    const reachable = new Set(['openai-chat', 'anthropic-messages', 'openai-responses']);
    const unreachable = record.filter((slug) =>
      factsOf(slug).endpoints.every(({ dialect, baseUrl }) => baseUrl === null || !reachable.has(dialect)),
    );
    expect(providersWithoutAddress.map(({ slug }) => slug)).toEqual(unreachable);
  });

  it.each(providersWithoutAddress.map((one) => [one.slug, one] as const))(
    '%s, without an address, is as the facts have it',
    (slug, provider) => {
      const { displayName, auth, dataPolicy, endpoints } = factsOf(slug);
      expect(provider.name).toBe(displayName);
      expect(provider.env).toEqual(auth.env);
      expect(provider.auth ? headersOf(provider.auth) : null).toEqual(
        auth.style === null || auth.style === 'bearer' ? null : [auth.header],
      );
      expect(provider.dataPolicy).toEqual({
        zeroRetention: dataPolicy?.zdr ?? null,
        trains: dataPolicy?.trainsOnData ?? null,
      });
      expect(provider.serves === null).toBe(endpoints.some(({ dialect }) => dialect === 'unknown'));
    },
  );

  describe.each(withAddress().map((one) => [one.slug, one] as const))('%s', (slug, provider) => {
    const known = () => factsOf(slug);
    const quirks = provider.quirks as ChatQuirks;
    const compat = () => known().compat ?? {};

    it('has its name, its variables and its data policy', () => {
      compare(slug, 'name', provider.name, known().displayName);
      compare(slug, 'env', provider.env, known().auth.env);
      expect(provider.dataPolicy).toEqual({
        zeroRetention: known().dataPolicy?.zdr ?? null,
        trains: known().dataPolicy?.trainsOnData ?? null,
      });
    });
    it('is called at its address, with its key where it looks for it', () => {
      const [first] = known().endpoints;
      expect(provider.dialect.name).toBe('openai-chat');
      compare(
        slug,
        'baseUrl',
        `${addressOf(provider.baseUrl)}/chat/completions`,
        `${first?.baseUrl}${first?.path?.split(' ', 1)[0]}`,
      );
      expect(headersOf(provider.auth)).toEqual([known().auth.header?.toLowerCase()]);
    });
    it('speaks the further dialects of the facts, at their first addresses', () => {
      const further = known().endpoints.filter(({ dialect }) =>
        /^(?:anthropic-messages|openai-responses)$/.test(dialect),
      );
      const expected = new Map<string, string>();
      for (const { dialect, baseUrl } of further) if (!expected.has(dialect)) expected.set(dialect, baseUrl as string);
      const said = Object.entries(provider.also ?? {});
      expect(new Map(said.map(([name, { baseUrl }]) => [name, addressOf(baseUrl)]))).toEqual(expected);
      for (const [name, { auth = provider.auth }] of said)
        compare(slug, `auth of ${name}`, headersOf(auth), [known().auth.header?.toLowerCase()]);
    });
    it('leaves out what the facts say it does not support', () => {
      // Other entries are sentences: they hold for some models, or for some values.
      const fields = (compat().unsupportedParams ?? []).filter((entry) => /^[a-z_]+$/.test(entry));
      const left = [...(quirks.dropParams ?? []), ...(quirks.streamOptions === false ? ['stream_options'] : [])];
      // A form of `tool_choice`, and no field.
      compare(slug, 'dropParams', left.toSorted(), fields.filter((field) => field !== 'allowed_tools').toSorted());
    });
    it('gets the largest output in its field, and roles that it takes', () => {
      const field = /^max_(?:completion_)?tokens/.exec(compat().maxTokensField ?? '')?.[0] ?? 'max_tokens';
      expect(quirks.maxTokensField ?? 'max_tokens').toBe(field);
      expect(quirks.developerRole === true).toBe(compat().supportsDeveloperRole === true);
      // The only smallest output that the facts know is that of another dialect.
      expect(quirks.minMaxTokens).toBeUndefined();
      expect(compat().minOutputTokens ?? 'Responses').toMatch(/^Responses/);
    });
    it('gets the seed in its field', () => {
      // Other entries are values, or what one router makes of a parameter.
      expect(quirks.seedField).toBe(compat().renamedParams?.seed);
    });
    it('gets earlier reasoning back where it wants it', () => {
      const wanted = /^(\w+) (?:must be present|wanted|kept)/.exec(compat().reasoningReplay ?? '')?.[1];
      compare(slug, 'reasoningField', quirks.reasoningField ?? undefined, wanted);
    });
    it('has quirks that its dialects know', () => {
      expect(checkBy(openaiChat.quirks(), quirks).issues).toBeNull();
      for (const [name, { quirks: own = {} }] of Object.entries(provider.also ?? {})) {
        const { quirks: known } = dialects[name as keyof typeof dialects] as unknown as Dialect;
        expect(checkBy(known(), own).issues).toBeNull();
      }
    });
  });

  it('has no exception too many', () => {
    expect(Object.keys(exceptions).filter((key) => !used.has(key))).toEqual([]);
  });
});

describe('the headers in which a provider takes its key', () => {
  it('are seen by the test', () => {
    expect(headersOf((request) => ({ ...request, headers: { 'x-key': 'the-key' } }))).toEqual(['x-key']);
    expect(headersOf((request) => request)).toEqual([]);
  });
});

function withAddress(): Provider[] {
  return builtInProviders.filter(({ slug }) => !inOwnFiles.has(slug) && !beside.has(slug));
}

/** With the names of its parts in braces, as the facts write it. */
function addressOf(baseUrl: Provider['baseUrl']): string {
  if (typeof baseUrl === 'string') return baseUrl;
  const parts = new Proxy({}, { get: (_, name) => `{${String(name)}}` });
  return baseUrl({ secret: '', parts } as Credential);
}

/** The headers that hold a key of its own after authentication. */
function headersOf(auth: Provider['auth']): string[] {
  const request = { method: 'POST' as const, url: 'https://x.test', headers: {}, body: '{}' };
  // None of them asks for more than the request and the credential.
  const simple = auth as (...args: unknown[]) => unknown;
  const { headers } = simple(request, { secret: 'the-key' }) as { headers: Record<string, string> };
  return Object.keys(headers).filter((name) => headers[name]?.includes('the-key'));
}
