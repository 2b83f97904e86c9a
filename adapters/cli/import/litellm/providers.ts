import { builtInProviders } from '../../../../src/index.ts';
import type { Written } from '../../config-source.ts';
import { type Findings, type Mapping, textOf } from '../values.ts';

/** Names of providers there, and here. */
const renamed: Readonly<Record<string, string>> = {
  ai21_chat: 'ai21',
  cohere_chat: 'cohere',
  dashscope: 'alibaba',
  featherless_ai: 'featherless',
  fireworks_ai: 'fireworks',
  friendliai: 'friendli',
  gemini: 'google-ai-studio',
  gradient_ai: 'digitalocean',
  moonshot: 'moonshotai',
  nvidia_nim: 'nvidia',
  together_ai: 'together',
  zai: 'z-ai',
};

/** Providers whose credentials have several parts, which stand in other places there. */
const inParts: Readonly<Record<string, string>> = {
  bedrock: 'amazon-bedrock',
  bedrock_converse: 'amazon-bedrock',
  vertex_ai: 'google-vertex',
  vertex_ai_beta: 'google-vertex',
};

/** Providers and servers that speak chat completions at an address of their own. */
const compatible: Readonly<Record<string, { baseUrl?: string; suffix?: string; env?: string }>> = {
  azure: { suffix: '/openai/v1', env: 'AZURE_API_KEY' },
  custom_openai: {},
  hosted_vllm: { env: 'HOSTED_VLLM_API_KEY' },
  litellm_proxy: { env: 'LITELLM_PROXY_API_KEY' },
  llamafile: { baseUrl: 'http://127.0.0.1:8080/v1' },
  lm_studio: { baseUrl: 'http://127.0.0.1:1234/v1' },
  ollama: { baseUrl: 'http://127.0.0.1:11434', suffix: '/v1' },
  ollama_chat: { baseUrl: 'http://127.0.0.1:11434', suffix: '/v1' },
  openai_like: {},
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', env: 'OPENROUTER_API_KEY' },
  vllm: {},
  xinference: {},
};

/** The place of a deployment: a provider of the new config, and the provider's own name for the model. */
export interface Place {
  provider: string;
  model: string;
}

/** Collects the providers of the new config, one for each address and key. */
export class ImportedProviders {
  readonly options: Record<string, Record<string, Written>> = {};
  readonly #slugs = new Map<string, string>();
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** @returns null: nothing here serves it; the reason is among the findings */
  placeOf(path: string, params: Mapping): Place | null {
    const named = textOf(params, 'model') ?? '';
    const [prefix, model] = splitModel(named, textOf(params, 'custom_llm_provider'));
    if (prefix === null || model === '') {
      this.#findings.cannot(`${path}.model`, 'names no provider that is known here; write it as provider/model');
      return null;
    }
    const split = Object.hasOwn(inParts, prefix) ? inParts[prefix] : undefined;
    if (split !== undefined) {
      const advice = `is set up by hand, as the provider "${split}": its credential has several parts`;
      this.#findings.cannot(`${path}.model`, advice);
      return null;
    }
    const slug = renamed[prefix] ?? prefix.replaceAll('_', '-');
    const builtIn = builtInProviders.find((one) => one.slug === slug);
    const other = Object.hasOwn(compatible, prefix) ? compatible[prefix] : undefined;
    const base = textOf(params, 'api_base') ?? textOf(params, 'base_url');
    const needsBase = other !== undefined && other.baseUrl === undefined;
    if ((builtIn === undefined && other === undefined) || (needsBase && base === undefined)) {
      const advice = needsBase
        ? 'needs an api_base'
        : 'is of a provider that is not served here; add it by defineProvider';
      this.#findings.cannot(`${path}.model`, advice);
      return null;
    }
    const key = textOf(params, 'api_key');
    const id = JSON.stringify([prefix, base ?? null, key ?? null]);
    const known = this.#slugs.get(id);
    if (known !== undefined) return { provider: known, model };
    const own = this.#freeSlug(slug);
    this.#slugs.set(id, own);
    const env = builtIn?.env[0] ?? other?.env;
    const keyName = own === slug && env !== undefined ? env : `${own}_API_KEY`;
    this.options[own] = {
      ...this.#addressOf(builtIn, own !== slug, base, other, own),
      ...(key === undefined && env === undefined ? {} : { apiKey: this.#keyOf(key, env, keyName) }),
    };
    return { provider: own, model };
  }

  #addressOf(
    builtIn: (typeof builtInProviders)[number] | undefined,
    isSecond: boolean,
    base: string | undefined,
    other: (typeof compatible)[string] | undefined,
    slug: string,
  ): Record<string, Written> {
    if (base !== undefined) {
      const isFull = /\/openai\/v1\/?$|\/v1\/?$/.test(base);
      const suffix = isFull ? '' : (other?.suffix ?? '');
      return { baseUrl: this.#findings.address(base, suffix, `${slug}_BASE_URL`) };
    }
    if (builtIn === undefined) return { baseUrl: `${other?.baseUrl ?? ''}${other?.suffix ?? ''}` };
    if (!isSecond || typeof builtIn.baseUrl !== 'string') return {};
    // Another key of a built-in provider.
    const dialect = builtIn.dialect.name === 'openai-chat' ? {} : { dialect: builtIn.dialect.name };
    return { baseUrl: builtIn.baseUrl, ...dialect, quirks: JSON.parse(JSON.stringify(builtIn.quirks)) as Written };
  }

  #keyOf(key: string | undefined, env: string | undefined, name: string): Written {
    if (key !== undefined) return this.#findings.secret(key, name);
    return this.#findings.secret(`os.environ/${env}`, name);
  }

  #freeSlug(slug: string): string {
    const clean = slug.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
    for (let at = 1; ; at++) {
      const own = at === 1 ? clean : `${clean}-${at}`;
      if (!Object.hasOwn(this.options, own)) return own;
    }
  }
}

/** Splits `provider/model`. For a well-known name without a provider, finds the provider that LiteLLM uses. */
function splitModel(named: string, custom: string | undefined): [prefix: string | null, model: string] {
  if (custom !== undefined) return [custom, named.startsWith(`${custom}/`) ? named.slice(custom.length + 1) : named];
  const slash = named.indexOf('/');
  if (slash > 0) return [named.slice(0, slash), named.slice(slash + 1)];
  if (/^(?:gpt-|o[134](?:-|$))/.test(named)) return ['openai', named];
  if (named.startsWith('claude-')) return ['anthropic', named];
  if (named.startsWith('command-')) return ['cohere', named];
  return [null, named];
}
