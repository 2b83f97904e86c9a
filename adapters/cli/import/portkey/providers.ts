import { isBuiltIn } from '../accounts.ts';

/** Names of providers there, and here. */
const renamed: Readonly<Record<string, string>> = {
  'azure-ai': 'azure',
  'azure-openai': 'azure',
  bedrock: 'amazon-bedrock',
  dashscope: 'alibaba',
  'featherless-ai': 'featherless',
  'fireworks-ai': 'fireworks',
  google: 'google-ai-studio',
  iointelligence: 'io-net',
  'mistral-ai': 'mistral',
  moonshot: 'moonshotai',
  'novita-ai': 'novita',
  'perplexity-ai': 'perplexity',
  'reka-ai': 'reka',
  'together-ai': 'together',
  'vertex-ai': 'google-vertex',
  'workers-ai': 'cloudflare',
  'x-ai': 'xai',
  zhipu: 'z-ai',
};

/** Servers that speak chat completions, and are no providers of ours. */
const servers: Readonly<Record<string, { baseUrl?: string }>> = {
  hyperbolic: { baseUrl: 'https://api.hyperbolic.xyz/v1' },
  lambda: { baseUrl: 'https://api.lambda.ai/v1' },
  nscale: { baseUrl: 'https://inference.api.nscale.com/v1' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1' },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1' },
};

/** A provider of ours, or a server; null: neither is known. */
export type Served = { like: string } | { server: string; baseUrl?: string } | null;

export function servedBy(name: string): Served {
  if (Object.hasOwn(servers, name)) return { server: name, ...servers[name] };
  const slug = Object.hasOwn(renamed, name) ? (renamed[name] as string) : name;
  return isBuiltIn(slug) && slug !== 'sandbox' ? { like: slug } : null;
}

const known = [
  ...Object.keys(renamed),
  ...Object.keys(servers),
  'openai',
  'anthropic',
  'cohere',
  'groq',
  'deepseek',
  'cerebras',
];

/** The provider that the name of a virtual key seems to say, such as `openai-prod`. */
export function guessedFrom(virtualKey: string): string | null {
  const words = `-${virtualKey.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-`;
  const found = [...known, 'azure', 'mistral', 'together', 'fireworks', 'perplexity', 'vertex', 'gemini', 'xai']
    .toSorted((a, b) => b.length - a.length)
    .find((name) => words.includes(`-${name}-`));
  if (found === 'vertex') return 'vertex-ai';
  if (found === 'gemini') return 'google';
  return found ?? null;
}
