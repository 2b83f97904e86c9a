/** A version of the GenAI semantic conventions. `latest`: of their own repository, which has no numbered release. */
export type ConventionVersion = '1.41' | 'latest';

/** Names that differ between the versions. During the overlap the latest version sends the older name as well. */
export const names = {
  '1.41': {
    cacheWrite: ['gen_ai.usage.cache_creation.input_tokens'],
    duration: 'gen_ai.client.operation.duration',
    firstChunk: 'gen_ai.client.operation.time_to_first_chunk',
  },
  latest: {
    cacheWrite: ['gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_write.input_tokens'],
    duration: 'gen_ai.client.inference.duration',
    firstChunk: 'gen_ai.client.inference.time_to_first_chunk',
  },
} as const satisfies Record<ConventionVersion, object>;

/** Counters of tokens in the latest version; 1.41 has one histogram, `gen_ai.client.token.usage`. */
export const tokenCounters = {
  input: 'gen_ai.client.inference.usage.input_tokens',
  output: 'gen_ai.client.inference.usage.output_tokens',
} as const;

/** Values of `gen_ai.provider.name` that are not our slugs. The conventions allow any other string. */
const providerNames: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  'google-ai-studio': 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
};

/** The conventions' name of a provider. */
export function providerNameOf(slug: string): string {
  return Object.hasOwn(providerNames, slug) ? (providerNames[slug] as string) : slug;
}
