import type { RequestRecord } from '../../src/index.ts';

/** A version of the GenAI semantic conventions. `latest`: of their own repository, which has no numbered release. */
export type ConventionVersion = '1.41' | 'latest';

/** Names that differ between the versions. During the overlap the latest version sends the older name as well. */
export const names = {
  '1.41': {
    cacheWrite: ['gen_ai.usage.cache_creation.input_tokens'],
    duration: 'gen_ai.client.operation.duration',
    firstChunk: 'gen_ai.client.operation.time_to_first_chunk',
    reasoningLevel: null,
    audioInput: null,
    audioOutput: null,
    imageOutput: null,
  },
  latest: {
    cacheWrite: ['gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_write.input_tokens'],
    duration: 'gen_ai.client.inference.duration',
    firstChunk: 'gen_ai.client.inference.time_to_first_chunk',
    reasoningLevel: 'gen_ai.request.reasoning.level',
    audioInput: 'gen_ai.usage.audio.input_tokens',
    audioOutput: 'gen_ai.usage.audio.output_tokens',
    imageOutput: 'gen_ai.usage.image.output_tokens',
  },
} as const satisfies Record<ConventionVersion, object>;

type Usage = NonNullable<RequestRecord['usage']>;

/** Tokens in the latest version; 1.41 has one histogram, `gen_ai.client.token.usage`. */
export const tokenCounters: {
  /** Histograms of the tokens of one call. */
  readonly ofCall: { readonly input: string; readonly output: string };
  /** Counters of all. */
  readonly sums: readonly (readonly [name: string, of: (usage: Usage) => number | null | undefined])[];
} = {
  ofCall: {
    input: 'gen_ai.client.inference.operation.input_tokens',
    output: 'gen_ai.client.inference.operation.output_tokens',
  },
  sums: [
    ['gen_ai.client.inference.usage.input_tokens', (usage) => usage.prompt_tokens],
    ['gen_ai.client.inference.usage.output_tokens', (usage) => usage.completion_tokens],
    [
      'gen_ai.client.inference.usage.cache_read.input_tokens',
      ({ prompt_tokens_details: details }) => details?.cached_tokens,
    ],
    [
      'gen_ai.client.inference.usage.cache_write.input_tokens',
      ({ prompt_tokens_details: details }) => details?.cache_write_tokens,
    ],
    [
      'gen_ai.client.inference.usage.reasoning.output_tokens',
      ({ completion_tokens_details: details }) => details?.reasoning_tokens,
    ],
  ],
};

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

/** The operations of the conventions, by the gateway's own operation. Those that have none in them keep their own names. */
const operationNames: Readonly<Record<string, string>> = {
  createEmbeddings: 'embeddings',
  createRerank: 'rerank',
  createModerations: 'moderations',
  createDecisions: 'decisions',
  createSpeech: 'speech',
  createTranscription: 'transcription',
  createTranslation: 'translation',
  // The word of the conventions for whatever makes content.
  createImages: 'generate_content',
  editImages: 'generate_content',
  createImage: 'generate_content',
};

/** Returns `gen_ai.operation.name` of an operation of the gateway. */
export function operationNameOf(operation: string): string {
  return operationNames[operation] ?? 'chat';
}
