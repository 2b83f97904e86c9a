import { isBuiltIn } from '../accounts.ts';

/** Names of providers there, and here. */
const renamed: Readonly<Record<string, string>> = {
  ai21_chat: 'ai21',
  anthropic_text: 'anthropic',
  azure_ai: 'azure',
  azure_text: 'azure',
  bedrock: 'amazon-bedrock',
  bedrock_converse: 'amazon-bedrock',
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
  vertex_ai: 'google-vertex',
  vertex_ai_beta: 'google-vertex',
  xiaomi_mimo: 'xiaomi',
  zai: 'z-ai',
};

/** A server that speaks chat completions, and is no provider of ours. */
export interface OtherServer {
  /** Absent: the file has to name it. */
  baseUrl?: string;
  /** Stands behind the address that the file names. */
  suffix?: string;
  /** The variable of its key. */
  env?: string;
}

/** Providers and servers that speak chat completions, at addresses that the other gateway knows or that the file names. */
const servers: Readonly<Record<string, OtherServer>> = {
  codestral: { baseUrl: 'https://codestral.mistral.ai/v1', env: 'CODESTRAL_API_KEY' },
  custom_openai: {},
  databricks: { env: 'DATABRICKS_API_KEY' },
  docker_model_runner: {},
  hosted_vllm: { env: 'HOSTED_VLLM_API_KEY' },
  huggingface: { suffix: '/v1', env: 'HUGGINGFACE_API_KEY' },
  hyperbolic: { baseUrl: 'https://api.hyperbolic.xyz/v1', env: 'HYPERBOLIC_API_KEY' },
  lambda_ai: { baseUrl: 'https://api.lambda.ai/v1', env: 'LAMBDA_API_KEY' },
  litellm_proxy: { env: 'LITELLM_PROXY_API_KEY' },
  llamafile: { baseUrl: 'http://127.0.0.1:8080/v1' },
  lm_studio: { baseUrl: 'http://127.0.0.1:1234/v1' },
  nscale: { baseUrl: 'https://inference.api.nscale.com/v1', env: 'NSCALE_API_KEY' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', suffix: '/v1' },
  ollama_chat: { baseUrl: 'http://127.0.0.1:11434/v1', suffix: '/v1' },
  openai_like: {},
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', env: 'OPENROUTER_API_KEY' },
  vercel_ai_gateway: { baseUrl: 'https://ai-gateway.vercel.sh/v1', env: 'VERCEL_AI_GATEWAY_API_KEY' },
  vllm: {},
  xinference: {},
};

/** The provider or server of a prefix; null: neither is known here. */
export type Served = { like: string } | { server: OtherServer } | null;

export function servedBy(prefix: string): Served {
  if (Object.hasOwn(servers, prefix)) return { server: servers[prefix] as OtherServer };
  const slug = Object.hasOwn(renamed, prefix) ? (renamed[prefix] as string) : prefix.replaceAll('_', '-');
  return isBuiltIn(slug) && slug !== 'sandbox' ? { like: slug } : null;
}

/** Splits `provider/model`. For a well-known name without a provider, finds the provider that LiteLLM uses. */
export function splitModel(named: string, custom: string | undefined): [prefix: string | null, model: string] {
  if (custom !== undefined) return [custom, named.startsWith(`${custom}/`) ? named.slice(custom.length + 1) : named];
  const slash = named.indexOf('/');
  if (slash > 0) return [named.slice(0, slash), named.slice(slash + 1)];
  if (/^(?:ft:)?(?:gpt-|chatgpt-|o[134](?:-|$))/.test(named)) return ['openai', named];
  if (named.startsWith('claude-')) return ['anthropic', named];
  if (named.startsWith('command-')) return ['cohere', named];
  return [null, named];
}

/** Names of models that serve something else than chat. The file may not say so: LiteLLM knows it from its own list. */
const ofOtherKinds =
  /(?:^|[-_/.])(?:embed(?:ding|dings)?|rerank|ranker|dall-e|gpt-image|whisper|tts|transcribe|speech|moderation|sora|imagen|veo|realtime|stable-diffusion|instruct-0914)(?:$|[-_/.:\d])/i;

/** Tells whether the name of a model says that it serves no chat. */
export function isOfOtherKind(model: string): boolean {
  return ofOtherKinds.test(model);
}
