import { openaiChat } from '../dialects/openai-chat/index.ts';
import type { ChatQuirks } from '../dialects/openai-chat/quirks.ts';
import { completeProvider, type DialectAddress, inHeader, type Provider } from './provider.ts';
import { imagesOfOpenAi } from './quirks/images.ts';

/** The header of Anthropic's own API. A provider below uses it only if the provider's documentation names it. */
const inApiKeyHeader = inHeader('x-api-key');

/**
 * The addresses at which providers of the registry speak further dialects, by slug and by name of the dialect. They
 * take the key as the usual address does, unless `auth` differs.
 * @see https://api-docs.deepseek.com/guides/anthropic_api "HTTP Header"
 * @see https://platform.minimax.io/docs/api-reference/text-chat-anthropic "Authorizations"
 */
const addresses: Readonly<Record<string, Readonly<Record<string, DialectAddress>>>> = {
  alibaba: {
    'openai-responses': { baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
    'anthropic-messages': { baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1' },
  },
  darkbloom: { 'anthropic-messages': { baseUrl: 'https://api.darkbloom.dev/v1' } },
  deepinfra: { 'anthropic-messages': { baseUrl: 'https://api.deepinfra.com/anthropic/v1' } },
  deepseek: {
    'anthropic-messages': { baseUrl: 'https://api.deepseek.com/anthropic/v1', auth: inApiKeyHeader },
    'openai-responses': { baseUrl: 'https://api.deepseek.com' },
  },
  digitalocean: {
    'openai-responses': { baseUrl: 'https://inference.do-ai.run/v1' },
    'anthropic-messages': { baseUrl: 'https://inference.do-ai.run/v1' },
  },
  fireworks: {
    'anthropic-messages': { baseUrl: 'https://api.fireworks.ai/inference/v1' },
    'openai-responses': { baseUrl: 'https://api.fireworks.ai/inference/v1' },
  },
  gmicloud: { 'anthropic-messages': { baseUrl: 'https://api.gmi-serving.com/v1' } },
  minimax: { 'anthropic-messages': { baseUrl: 'https://api.minimax.io/anthropic/v1', auth: inApiKeyHeader } },
  moonshotai: { 'anthropic-messages': { baseUrl: 'https://api.moonshot.ai/anthropic/v1' } },
  openai: {
    'openai-responses': {
      baseUrl: 'https://api.openai.com/v1',
      quirks: { lowDetail: true, compacts: true, countsInput: true },
    },
  },
  perplexity: { 'openai-responses': { baseUrl: 'https://api.perplexity.ai/v1' } },
  // The platform in mainland China, which has keys of its own: no such address of the global platform is known.
  stepfun: {
    'anthropic-messages': { baseUrl: 'https://api.stepfun.com/v1' },
    'openai-responses': { baseUrl: 'https://api.stepfun.com/v1' },
  },
  venice: { 'openai-responses': { baseUrl: 'https://api.venice.ai/api/v1' } },
  xai: {
    'openai-responses': {
      baseUrl: 'https://api.x.ai/v1',
      quirks: { reasoningFormat: 'xai-responses-v1', reasoningBeside: true },
    },
  },
  xiaomi: { 'anthropic-messages': { baseUrl: 'https://api.xiaomimimo.com/anthropic/v1' } },
};

/**
 * The styles of requests for reasoning, caching and schemas, for providers of chat completions that differ from the
 * usual way. Public facts as of November 2026. Where the style depends on the model, the usual way stays.
 * @see https://api-docs.deepseek.com/guides/thinking_mode
 * @see https://docs.z.ai/guides/capabilities/thinking-mode
 * @see https://www.alibabacloud.com/help/en/model-studio/deep-thinking
 * @see https://www.alibabacloud.com/help/en/model-studio/context-cache
 * @see https://docs.fireworks.ai/guides/reasoning
 */
const requestStyles: Readonly<Record<string, ChatQuirks>> = {
  ai21: { jsonSchema: false },
  // It takes `cache_control` in messages too, for a price that is not known here: see `inputCacheWrite` in docs/options.md.
  alibaba: { reasoningStyle: 'enable_thinking_budget' },
  deepseek: { reasoningStyle: 'thinking', jsonSchema: false },
  digitalocean: { reasoningStyle: 'object' },
  fireworks: { reasoningStyle: 'thinking_budget' },
  friendli: { reasoningStyle: 'chat_template' },
  'io-net': { reasoningStyle: 'object_effort' },
  minimax: { reasoningFormat: 'MiniMax-response-v1' },
  moonshotai: { reasoningStyle: 'thinking' },
  novita: { reasoningStyle: 'enable_thinking' },
  poolside: { reasoningStyle: 'object_effort' },
  siliconflow: { reasoningStyle: 'enable_thinking_budget' },
  together: { reasoningStyle: 'enabled' },
  xiaomi: { reasoningStyle: 'thinking' },
  'z-ai': { reasoningStyle: 'thinking' },
};

/**
 * Providers whose models go on when a stream is cancelled, and charge for the complete response.
 * @see https://openrouter.ai/docs/api-reference/streaming "Stream Cancellation", not supported
 */
const generateOn = new Set([
  'ai21',
  'aion-labs',
  'alibaba',
  'featherless',
  'groq',
  'inference-net',
  'inflection',
  'minimax',
  'mistral',
  'nebius',
  'perplexity',
  'sambanova',
]);

/**
 * The providers that speak plain chat completions, one row each. The key is a bearer token unless the row has another
 * `auth`. Base addresses, variables and quirks are public facts as of November 2026; unknown facts are left out.
 * `reasoningBeside` is true where the provider documents a limit of its own for reasoning (Alibaba, SiliconFlow,
 * BytePlus), or reports it beside the output (xAI). It is false where `max_tokens` limits both together.
 */
export const registry = [
  plain('ai21', 'AI21 Labs', 'https://api.ai21.com/studio/v1', ['AI21_API_KEY']),
  plain('aion-labs', 'Aion Labs', 'https://api.aionlabs.ai/v1', ['AION_API_KEY', 'AIONLABS_API_KEY']),
  plain('akashml', 'AkashML', 'https://api.akashml.com/v1', []),
  plain(
    'alibaba',
    'Alibaba Cloud Model Studio',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    ['DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'],
    { quirks: { reasoningBeside: true, dropParams: ['frequency_penalty'] } },
  ),
  plain('amazon-nova', 'Amazon Nova', 'https://api.nova.amazon.com/v1', ['NOVA_API_KEY', 'AMAZON_NOVA_API_KEY'], {
    quirks: {
      dropParams: [
        'n',
        'seed',
        'logit_bias',
        'logprobs',
        'presence_penalty',
        'frequency_penalty',
        'parallel_tool_calls',
      ],
    },
  }),
  plain('ambient', 'Ambient', 'https://api.ambient.xyz/v1', ['AMBIENT_API_KEY']),
  plain('arcee-ai', 'Arcee AI', 'https://api.arcee.ai/api/v1', ['ARCEE_API_KEY', 'ARCEEAI_API_KEY']),
  plain('atlas-cloud', 'Atlas Cloud', 'https://api.atlascloud.ai/v1', ['ATLASCLOUD_API_KEY']),
  plain('avian', 'Avian', 'https://api.avian.io/v1', ['AVIAN_API_KEY']),
  plain('baidu', 'Baidu Qianfan', 'https://qianfan.baidubce.com/v2', ['QIANFAN_API_KEY']),
  plain('baseten', 'Baseten', 'https://inference.baseten.co/v1', ['BASETEN_API_KEY']),
  plain('byteplus', 'BytePlus ModelArk', 'https://ark.ap-southeast.bytepluses.com/api/v3', ['ARK_API_KEY'], {
    quirks: { reasoningBeside: true },
  }),
  plain('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', ['CEREBRAS_API_KEY'], {
    quirks: {
      reasoningBeside: false,
      dropParams: [
        'frequency_penalty',
        'presence_penalty',
        'logit_bias',
        'parallel_tool_calls',
        'service_tier',
        'logprobs',
      ],
      maxTokensField: 'max_completion_tokens',
      reasoningField: 'reasoning',
    },
  }),
  plain('chutes', 'Chutes', 'https://llm.chutes.ai/v1', ['CHUTES_API_KEY']),
  plain('cirrascale', 'Cirrascale AI Suite', 'https://aisuite.cirrascale.com/apis/v2', [
    'CIRRASCALE_API_KEY',
    'IMAGINE_API_KEY',
  ]),
  plain('clarifai', 'Clarifai', 'https://api.clarifai.com/v2/ext/openai/v1', ['CLARIFAI_PAT']),
  plain('crusoe', 'Crusoe', 'https://api.inference.crusoecloud.com/v1', ['CRUSOE_API_KEY']),
  plain('darkbloom', 'Darkbloom', 'https://api.darkbloom.dev/v1', ['DARKBLOOM_API_KEY']),
  plain('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai', ['DEEPINFRA_API_KEY'], {
    dataPolicy: { zeroRetention: true, trains: false },
  }),
  plain('deepseek', 'DeepSeek', 'https://api.deepseek.com', ['DEEPSEEK_API_KEY'], {
    quirks: { reasoningBeside: false, dropParams: ['top_k', 'seed'], reasoningField: 'reasoning_content' },
    dataPolicy: { zeroRetention: false, trains: true },
  }),
  plain('dekallm', 'DekaLLM (Cloudeka)', 'https://dekallm.cloudeka.ai/v1', []),
  plain('digitalocean', 'DigitalOcean', 'https://inference.do-ai.run/v1', ['DIGITALOCEAN_ACCESS_TOKEN'], {
    quirks: { reasoningBeside: false },
  }),
  plain('featherless', 'Featherless AI', 'https://api.featherless.ai/v1', ['FEATHERLESS_API_KEY']),
  plain('fireworks', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1', ['FIREWORKS_API_KEY'], {
    quirks: { reasoningBeside: false, dropParams: ['verbosity'], reasoningField: 'reasoning_content' },
    dataPolicy: { zeroRetention: true, trains: false },
  }),
  plain('friendli', 'FriendliAI', 'https://api.friendli.ai/serverless/v1', ['FRIENDLI_TOKEN']),
  plain('gmicloud', 'GMI Cloud', 'https://api.gmi-serving.com/v1', [
    'GMI_CLOUD_APIKEY',
    'GMICLOUD_API_KEY',
    'GMI_API_KEY',
  ]),
  plain('groq', 'Groq', 'https://api.groq.com/openai/v1', ['GROQ_API_KEY'], {
    quirks: {
      reasoningBeside: false,
      dropParams: ['top_k', 'logprobs', 'top_logprobs'],
      maxTokensField: 'max_completion_tokens',
      transcriptions: {
        leastSeconds: 10,
        streams: false,
        fields: ['language', 'prompt', 'temperature', 'timestamp_granularities'],
      },
      speech: { events: false, forms: ['mp3', 'flac', 'wav'], fields: ['speed'] },
    },
    dataPolicy: { zeroRetention: null, trains: null },
  }),
  plain('inception', 'Inception', 'https://api.inceptionlabs.ai/v1', ['INCEPTION_API_KEY'], {
    dataPolicy: { zeroRetention: true, trains: null },
  }),
  plain('inceptron', 'Inceptron', 'https://api.inceptron.io/v1', ['INCEPTRON_API_KEY']),
  plain('inference-net', 'Inference.net', 'https://api.inference.net/v1', ['INFERENCE_API_KEY']),
  plain('infermatic', 'Infermatic', 'https://api.totalgpt.ai/v1', ['INFERMATIC_API_KEY']),
  plain('inflection', 'Inflection AI', 'https://api.inflection.ai/external/api/inference/openai/v1', [
    'INFLECTION_API_KEY',
  ]),
  plain('io-net', 'io.net', 'https://api.intelligence.io.solutions/api/v1', ['IOINTELLIGENCE_API_KEY']),
  plain('jina', 'Jina AI', 'https://api.jina.ai/v1', ['JINA_API_KEY'], {
    tasks: ['embeddings', 'rerank'],
    quirks: {
      embeddings: {
        encodingField: 'embedding_type',
        inputTypeField: 'task',
        inputTypes: {
          search_query: 'retrieval.query',
          search_document: 'retrieval.passage',
          clustering: 'separation',
        },
        tokenInputs: false,
        user: false,
      },
      rerank: { images: true },
    },
  }),
  plain('liquid', 'Liquid AI', 'https://inference.liquid.ai/v1', ['LIQUID_API_KEY']),
  plain('mancer', 'Mancer', 'https://neuro.mancer.tech/oai/v1', ['MANCER_API_KEY']),
  plain('mara', 'MARA', 'https://api.cloud.mara.com/v1', ['MARA_API_KEY']),
  plain('minimax', 'MiniMax', 'https://api.minimax.io/v1', ['MINIMAX_API_KEY'], {
    quirks: { reasoningBeside: false, reasoningField: 'reasoning_details' },
  }),
  plain('mistral', 'Mistral', 'https://api.mistral.ai/v1', ['MISTRAL_API_KEY'], {
    quirks: {
      reasoningBeside: false,
      dropParams: ['top_k', 'logit_bias', 'logprobs'],
      seedField: 'random_seed',
      embeddings: { dimensionsField: 'output_dimension', tokenInputs: false, user: false, items: 128, tokens: 16_000 },
      streamOptions: false,
      messageOrder: 'bridged_turns',
      callIds: 'nine',
      transcriptions: {
        formBy: 'diarize',
        forms: ['json', 'verbose_json', 'diarized_json'],
        fields: ['language', 'temperature', 'timestamp_granularities'],
      },
      // Sources differ about the rate and the kind of its samples without a header, so `pcm` is left out.
      speech: {
        events: false,
        isJson: true,
        voiceField: 'voice_id',
        forms: ['mp3', 'opus', 'flac', 'wav'],
        fields: [],
      },
    },
    dataPolicy: { zeroRetention: null, trains: null },
  }),
  plain('modular', 'Modular Cloud', 'https://api.modular.com/v1', ['MODULAR_API_KEY']),
  plain('moonshotai', 'Moonshot AI', 'https://api.moonshot.ai/v1', ['MOONSHOT_API_KEY', 'MOONSHOTAI_API_KEY'], {
    // Its models know their calls by ids such as `functions.get_weather:0`.
    quirks: {
      reasoningBeside: false,
      dropParams: ['top_k', 'seed'],
      reasoningField: 'reasoning_content',
      callIds: 'any',
    },
  }),
  plain('morph', 'Morph', 'https://api.morphllm.com/v1', ['MORPH_API_KEY']),
  plain('ncompass', 'nCompass', 'https://api.ncompass.tech/v1', ['NCOMPASS_API_KEY']),
  plain('nebius', 'Nebius Token Factory', 'https://api.tokenfactory.nebius.com/v1', ['NEBIUS_API_KEY']),
  plain('nextbit', 'NextBit', 'https://api.nextbit256.com/v1', ['NEXTBIT_API_KEY']),
  plain('novita', 'Novita AI', 'https://api.novita.ai/openai/v1', ['NOVITA_API_KEY'], {
    quirks: { reasoningField: 'reasoning_content' },
    dataPolicy: { zeroRetention: true, trains: false },
  }),
  plain('nvidia', 'NVIDIA', 'https://integrate.api.nvidia.com/v1', ['NVIDIA_API_KEY'], {
    quirks: { reasoningBeside: false, dropParams: ['n', 'logit_bias', 'logprobs'] },
  }),
  plain('open-inference', 'OpenInference', 'https://api.openinference.ai/v1', ['OPENINFERENCE_KEY']),
  plain('openai', 'OpenAI', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], {
    quirks: {
      lowDetail: true,
      reasoningBeside: false,
      maxTokensField: 'max_completion_tokens',
      developerRole: true,
      messageOrder: 'any',
      images: imagesOfOpenAi,
    },
    freeTasks: ['moderations'],
    dataPolicy: { zeroRetention: false, trains: false },
  }),
  plain('parasail', 'Parasail', 'https://api.parasail.io/v1', ['PARASAIL_API_KEY'], {
    quirks: { dropParams: ['prompt_cache_key', 'verbosity', 'store', 'service_tier'] },
  }),
  plain('perceptron', 'Perceptron', 'https://api.perceptron.inc/v1', ['PERCEPTRON_API_KEY']),
  plain('perplexity', 'Perplexity', 'https://api.perplexity.ai', ['PERPLEXITY_API_KEY'], {
    quirks: { alwaysSearches: true, dropParams: ['tools', 'tool_choice', 'seed', 'stop', 'logit_bias', 'logprobs'] },
  }),
  plain('phala', 'Phala (RedPill)', 'https://inference.phala.com/v1', ['PHALA_AI_API_KEY', 'REDPILL_API_KEY']),
  plain('poolside', 'Poolside', 'https://inference.poolside.ai/v1', ['POOLSIDE_API_KEY']),
  plain('reka', 'Reka AI', 'https://api.reka.ai/v1', ['REKA_API_KEY'], {
    quirks: { dropParams: ['response_format'] },
    auth: inHeader('x-api-key'),
  }),
  // The address is for code edits: the prompt has the form that the provider documents.
  plain('relace', 'Relace', 'https://instantapply.endpoint.relace.run/v1/apply', ['RELACE_API_KEY']),
  plain('sakana-ai', 'Sakana AI', 'https://api.sakana.ai/v1', ['SAKANA_API_KEY']),
  plain('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1', ['SAMBANOVA_API_KEY'], {
    quirks: { dropParams: ['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'seed', 'user', 'n'] },
  }),
  plain('siliconflow', 'SiliconFlow', 'https://api.siliconflow.com/v1', ['SILICONFLOW_API_KEY'], {
    quirks: { reasoningBeside: true },
  }),
  plain('stepfun', 'StepFun', 'https://api.stepfun.ai/v1', ['STEPFUN_API_KEY']),
  plain('streamlake', 'StreamLake', 'https://vanchin.streamlake.ai/api/gateway/v1/endpoints', ['STREAMLAKE_API_KEY'], {
    dataPolicy: { zeroRetention: false, trains: false },
  }),
  plain('switchpoint', 'Switchpoint', 'https://switchpoint.dev/v1', []),
  plain('tenstorrent', 'Tenstorrent', 'https://console.tenstorrent.com/v1', ['TENSTORRENT_API_KEY']),
  plain('together', 'Together AI', 'https://api.together.xyz/v1', ['TOGETHER_API_KEY'], {
    // It takes a model and the texts alone, and reports no use.
    quirks: {
      reasoningBeside: false,
      embeddings: { dimensionsField: null, encodingField: null, tokenInputs: false, user: false },
      transcriptions: {
        forms: ['json', 'verbose_json'],
        streams: false,
        fields: ['language', 'prompt', 'temperature', 'timestamp_granularities'],
      },
      speech: { events: false, forms: ['mp3', 'wav', 'pcm'], formNames: { pcm: 'raw' }, fields: [] },
      images: {
        base64Word: 'base64',
        sizeFields: 'sides',
        edits: 'references',
        fields: ['seed', 'negative_prompt', 'output_format'],
      },
    },
  }),
  plain('upstage', 'Upstage', 'https://api.upstage.ai/v1/solar', ['UPSTAGE_API_KEY'], {
    dataPolicy: { zeroRetention: null, trains: false },
  }),
  plain('venice', 'Venice AI', 'https://api.venice.ai/api/v1', ['VENICE_API_KEY', 'VENICE_AI_API_KEY'], {
    quirks: { reasoningBeside: false, maxTokensField: 'max_completion_tokens' },
  }),
  plain('voyage', 'Voyage AI', 'https://api.voyageai.com/v1', ['VOYAGE_API_KEY'], {
    tasks: ['embeddings', 'rerank'],
    quirks: {
      // It cuts what is too long in silence unless it is told not to.
      embeddings: {
        items: 128,
        tokens: 100_000,
        dimensionsField: 'output_dimension',
        inputTypeField: 'input_type',
        inputTypes: { search_query: 'query', search_document: 'document' },
        tokenInputs: false,
        user: false,
        fields: { truncation: false },
      },
      rerank: { topField: 'top_k', fields: { truncation: false } },
    },
  }),
  plain('wafer', 'Wafer', 'https://pass.wafer.ai/v1', ['WAFER_API_KEY'], {
    dataPolicy: { zeroRetention: null, trains: null },
  }),
  plain('wandb', 'Weights & Biases Inference (CoreWeave)', 'https://api.inference.wandb.ai/v1', ['WANDB_API_KEY'], {
    dataPolicy: { zeroRetention: true, trains: false },
  }),
  plain('xai', 'xAI', 'https://api.x.ai/v1', ['XAI_API_KEY'], {
    quirks: {
      reasoningBeside: true,
      dropParams: ['top_k', 'frequency_penalty', 'presence_penalty'],
      maxTokensField: 'max_completion_tokens',
      messageOrder: 'any',
    },
    dataPolicy: { zeroRetention: null, trains: null },
  }),
  plain('xiaomi', 'Xiaomi MiMo', 'https://api.xiaomimimo.com/v1', ['XIAOMI_API_KEY', 'XIAOMI_MIMO_API_KEY'], {
    quirks: { reasoningField: 'reasoning_content' },
  }),
  plain('z-ai', 'Z.AI', 'https://api.z.ai/api/paas/v4', ['ZAI_API_KEY', 'ZHIPU_API_KEY'], {
    quirks: { reasoningBeside: false, reasoningField: 'reasoning_content' },
  }),
] satisfies readonly Provider[];

/** @param env  variables that usually hold the key, the most usual first */
function plain<const Slug extends string>(
  slug: Slug,
  name: string,
  baseUrl: string,
  env: readonly string[],
  {
    quirks: own = {},
    ...more
  }: Pick<Partial<Provider<ChatQuirks>>, 'quirks' | 'dataPolicy' | 'auth' | 'tasks' | 'freeTasks'> = {},
): Provider<ChatQuirks> & { slug: Slug } {
  const quirks = { ...requestStyles[slug], ...own, ...(generateOn.has(slug) ? { generatesOn: true } : {}) };
  return {
    ...completeProvider({ slug, name, baseUrl, env, dialect: openaiChat, quirks, ...furtherDialects(slug), ...more }),
    slug,
  };
}

/** The further dialects of a provider; empty for most. */
function furtherDialects(slug: string): Pick<Provider, 'also'> {
  const also = Object.hasOwn(addresses, slug) ? addresses[slug] : undefined;
  return also === undefined ? {} : { also };
}
