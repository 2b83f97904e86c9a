import { intervals } from '../src/base/windows.ts';
import type { DescribedSchema } from './schema-comments.ts';

/** What the schemas of an operation do not say, for its description in docs/openapi.json. */
export interface OperationText {
  /** One line, without a full stop. */
  summary: string;
  /** Where it is listed. */
  tag: keyof typeof tags;
  /** What a caller must know besides. */
  description?: string;
  /** HTTP status of a success. Default 200. */
  status?: 201;
  /**
   * Where the response may be server-sent events: what the data of an event is, a key of `components.schemas`.
   * `always`: there is no JSON.
   */
  events?: { schema: string; always?: true };
  /** Key of `components.schemas`, for a body that is checked by a function. */
  body?: string;
}

/** In the order of the page. */
export const tags = {
  Chat: 'Chat completions, as JSON or as server-sent events',
  Completions: 'Text completions of older clients and of editors, served by chat models',
  Responses: 'Responses as OpenAI has them (beta)',
  Messages: 'Messages as Anthropic has them',
  Gemini: 'Content as the Gemini API has it (beta)',
  Embeddings: 'Vectors of texts',
  Rerank: 'Documents, sorted by a query',
  Images: 'Images of texts and pictures',
  Moderations: 'Texts and pictures that may be harmful',
  Decisions: 'Answers to typed questions about an input',
  Audio: 'Speech and transcripts',
  Models: 'Models, their endpoints and providers',
  Workspaces: 'Tenants of the gateway',
  Budgets: 'Limits on what a workspace spends',
  'API keys': 'Keys of callers',
  'Provider credentials': 'Provider keys that a workspace brings (BYOK)',
  Guardrails: 'Rules that are imposed on keys and workspaces',
  Records: 'What happened',
  Interface: 'The interface itself',
} as const;

const noProvider = 'No provider is called, and nothing is held.';
const streamEnd = 'An error after the first byte is an event.';

/** By name of the operation. */
export const operationTexts: Readonly<Record<string, OperationText>> = {
  createChatCompletion: {
    tag: 'Chat',
    summary: 'Make a chat completion',
    description: `With \`stream: true\` the response is a stream of events that ends with \`data: [DONE]\`; one without it was cut. ${streamEnd}`,
    body: 'ChatRequest',
    events: { schema: 'ChatChunk' },
  },
  explainChatCompletion: {
    tag: 'Chat',
    summary: 'Explain how a chat completion would be routed, and what would be held for it',
    description: noProvider,
    body: 'ChatRequest',
  },
  createCompletion: {
    tag: 'Completions',
    summary: 'Complete a text, or fill the gap between two',
    description: `One prompt a request; several, and ids of tokens, are a 400. With \`stream: true\` the response is a stream of events that ends with \`data: [DONE]\`; one without it was cut. ${streamEnd}`,
    body: 'TextCompletionRequest',
    events: { schema: 'TextCompletionEvent' },
  },
  explainCompletion: {
    tag: 'Completions',
    summary: 'Explain how a text completion would be routed, and what would be held for it',
    description: noProvider,
    body: 'TextCompletionRequest',
  },
  createEmbeddings: { tag: 'Embeddings', summary: 'Make vectors of texts, token ids or parts' },
  explainEmbeddings: {
    tag: 'Embeddings',
    summary: 'Explain how a request for vectors would be routed, and what would be held for it',
    description: noProvider,
  },
  listEmbeddingsModels: { tag: 'Embeddings', summary: 'List the models for embeddings' },
  createRerank: { tag: 'Rerank', summary: 'Sort documents by a query' },
  explainRerank: {
    tag: 'Rerank',
    summary: 'Explain how a request for a ranking would be routed, and what would be held for it',
    description: noProvider,
  },
  createImages: {
    tag: 'Images',
    summary: 'Make images of a text',
    description:
      'With `stream: true` the response is a stream of events; the last has the usage, and no `[DONE]` follows. A stream that fails ends with an event `error`.',
    events: { schema: 'OpenaiImagesEvent' },
  },
  explainImages: {
    tag: 'Images',
    summary: 'Explain how a request for images would be routed, and what would be held for it',
    description: noProvider,
  },
  editImages: {
    tag: 'Images',
    summary: 'Make images of pictures and a text',
    description:
      'A form with the files in `image`, or JSON with references in `images`. With `stream: true` the response is a stream of events, as of POST /images/generations.',
    events: { schema: 'OpenaiImagesEvent' },
  },
  explainImageEdits: {
    tag: 'Images',
    summary: 'Explain how a request to edit pictures would be routed, and what would be held for it',
    description: noProvider,
  },
  createImage: {
    tag: 'Images',
    summary: 'Make images, in the shape of the public service',
    description: 'With `stream: true` the response is a stream of events that ends with `data: [DONE]`.',
    events: { schema: 'ImagesEvent' },
  },
  explainImage: {
    tag: 'Images',
    summary: 'Explain how such a request would be routed, and what would be held for it',
    description: noProvider,
  },
  createModerations: { tag: 'Moderations', summary: 'Tell whether texts and pictures are harmful' },
  explainModerations: {
    tag: 'Moderations',
    summary: 'Explain how a request for a moderation would be routed',
    description: noProvider,
  },
  createDecisions: { tag: 'Decisions', summary: 'Answer typed questions about an input' },
  explainDecisions: {
    tag: 'Decisions',
    summary: 'Explain how a request for decisions would be routed, and what would be held for it',
    description: noProvider,
  },
  createSpeech: {
    tag: 'Audio',
    summary: 'Speak a text',
    description:
      'The response is the sound itself, of the type `audio/…`, as the provider sends it; with `stream_format: sse` it is a stream of events that ends with `speech.audio.done`. A response that breaks off ends without a clean end of its connection.',
    body: 'SpeechRequest',
    events: { schema: 'SpeechEvent', always: true },
  },
  explainSpeech: {
    tag: 'Audio',
    summary: 'Explain how a request for speech would be routed, and what would be held for it',
    description: noProvider,
    body: 'SpeechRequest',
  },
  createTranscription: {
    tag: 'Audio',
    summary: 'Write down what is said',
    description:
      'The sound is a `file` in a form, or `input_audio` in JSON. With `response_format` `text`, `srt` or `vtt` the response is such a text. With `stream: true` it is a stream of events that ends with `transcript.text.done`; one without it was cut.',
    body: 'TranscriptionRequest',
    events: { schema: 'TranscriptionEvent' },
  },
  explainTranscription: {
    tag: 'Audio',
    summary: 'Explain how a request for a transcript would be routed, and what would be held for it',
    description: noProvider,
    body: 'TranscriptionRequest',
  },
  explainTranslation: {
    tag: 'Audio',
    summary: 'Explain how a request for a translation would be routed, and what would be held for it',
    description: noProvider,
    body: 'TranslationRequest',
  },
  createTranslation: {
    tag: 'Audio',
    summary: 'Write down in English what is said',
    description:
      'The sound is a `file` in a form, or `input_audio` in JSON. With `response_format` `text`, `srt` or `vtt` the response is such a text.',
    body: 'TranslationRequest',
  },
  createMessage: {
    tag: 'Messages',
    summary: 'Make a message',
    description: `With \`stream: true\` the response is a stream of typed events that ends with \`message_stop\`; one without it was cut. ${streamEnd}`,
    body: 'MessagesRequest',
    events: { schema: 'MessagesEvent' },
  },
  explainMessage: {
    tag: 'Messages',
    summary: 'Explain how a message would be routed, and what would be held for it',
    description: noProvider,
    body: 'MessagesRequest',
  },
  countMessageTokens: {
    tag: 'Messages',
    summary: 'Estimate the tokens of a message',
    description: noProvider,
    body: 'MessagesRequest',
  },
  generateContent: {
    tag: 'Gemini',
    summary: 'Make content, as clients of the Gemini API ask for it',
    description: 'The gateway serves it at `/v1beta/models/…` as well.',
    body: 'GeminiRequest',
  },
  streamGenerateContent: {
    tag: 'Gemini',
    summary: 'Make content, as a stream',
    description:
      'With `alt=sse` the response is a stream of events, otherwise one JSON array. The event with `finishReason` is the last.',
    body: 'GeminiRequest',
    events: { schema: 'GeminiResult' },
  },
  countTokens: {
    tag: 'Gemini',
    summary: 'Estimate the tokens of a request of the Gemini API',
    description: noProvider,
    body: 'GeminiRequest',
  },
  explainContent: {
    tag: 'Gemini',
    summary: 'Explain how a request of the Gemini API would be routed, and what would be held for it',
    description: noProvider,
    body: 'GeminiRequest',
  },
  embedContent: {
    tag: 'Gemini',
    summary: 'Make a vector, as clients of the Gemini API ask for it',
  },
  batchEmbedContents: {
    tag: 'Gemini',
    summary: 'Make a vector of each item, as clients of the Gemini API ask for it',
  },
  createResponse: {
    tag: 'Responses',
    summary: 'Make a response',
    description: `With \`stream: true\` the response is a stream of typed events. ${streamEnd}`,
    body: 'ResponsesRequest',
    events: { schema: 'ResponsesEvent' },
  },
  explainResponse: {
    tag: 'Responses',
    summary: 'Explain how a response would be routed, and what would be held for it',
    description: noProvider,
    body: 'ResponsesRequest',
  },
  compactResponse: {
    tag: 'Responses',
    summary: 'Compact a conversation into an item that stands for it',
    body: 'ResponsesRequest',
  },
  countInputTokens: {
    tag: 'Responses',
    summary: 'Estimate the tokens of an input',
    description: noProvider,
    body: 'ResponsesRequest',
  },
  retrieveResponse: { tag: 'Responses', summary: 'Show a kept response' },
  deleteResponse: { tag: 'Responses', summary: 'Delete a kept response and its input' },
  listInputItems: { tag: 'Responses', summary: 'List the input items of a kept response' },
  createConversation: { tag: 'Responses', summary: 'Make a conversation' },
  retrieveConversation: { tag: 'Responses', summary: 'Show a conversation' },
  updateConversation: { tag: 'Responses', summary: 'Replace the metadata of a conversation' },
  deleteConversation: { tag: 'Responses', summary: 'Delete a conversation and its items' },
  createConversationItems: { tag: 'Responses', summary: 'Add items to a conversation' },
  listConversationItems: { tag: 'Responses', summary: 'List the items of a conversation' },
  retrieveConversationItem: { tag: 'Responses', summary: 'Show an item of a conversation' },
  deleteConversationItem: { tag: 'Responses', summary: 'Delete an item of a conversation' },
  createWorkspace: {
    tag: 'Workspaces',
    summary: 'Make a workspace',
    status: 201,
  },
  listWorkspaces: {
    tag: 'Workspaces',
    summary: 'List workspaces',
  },
  getWorkspace: {
    tag: 'Workspaces',
    summary: 'Get a workspace',
  },
  updateWorkspace: {
    tag: 'Workspaces',
    summary: 'Change a workspace',
    description: 'An absent field does not change, null clears it, a list replaces the list.',
  },
  upsertWorkspace: {
    tag: 'Workspaces',
    summary: 'Make the workspace with this slug, or change it',
    description:
      'As a change, where it is there. Else it is made, and named after its slug unless a name is given: `updated_at` is then null.',
  },
  deleteWorkspace: {
    tag: 'Workspaces',
    summary: 'Delete a workspace',
  },
  listWorkspaceBudgets: {
    tag: 'Budgets',
    summary: 'List the budgets of a workspace',
  },
  getWorkspaceBudget: {
    tag: 'Budgets',
    summary: 'Get a budget',
  },
  upsertWorkspaceBudget: {
    tag: 'Budgets',
    summary: 'Set a budget',
  },
  deleteWorkspaceBudget: {
    tag: 'Budgets',
    summary: 'Delete a budget',
  },
  createBYOKKey: {
    tag: 'Provider credentials',
    summary: 'Make a provider credential',
    status: 201,
  },
  listBYOKKeys: {
    tag: 'Provider credentials',
    summary: 'List provider credentials',
  },
  getBYOKKey: {
    tag: 'Provider credentials',
    summary: 'Get a provider credential',
  },
  updateBYOKKey: {
    tag: 'Provider credentials',
    summary: 'Change a provider credential',
    description: 'An absent field does not change, null clears it, a list replaces the list.',
  },
  deleteBYOKKey: {
    tag: 'Provider credentials',
    summary: 'Delete a provider credential',
  },
  createKeys: {
    tag: 'API keys',
    summary: 'Make an API key',
    status: 201,
  },
  list: {
    tag: 'API keys',
    summary: 'List API keys',
  },
  getKey: {
    tag: 'API keys',
    summary: 'Get an API key',
  },
  updateKeys: {
    tag: 'API keys',
    summary: 'Change an API key',
    description: 'An absent field does not change, null clears it, a list replaces the list.',
  },
  deleteKeys: {
    tag: 'API keys',
    summary: 'Delete an API key',
  },
  getCurrentKey: {
    tag: 'API keys',
    summary: 'Get the API key of the request',
  },
  createGuardrail: {
    tag: 'Guardrails',
    summary: 'Make a guardrail',
    status: 201,
  },
  listGuardrails: {
    tag: 'Guardrails',
    summary: 'List guardrails',
  },
  getGuardrail: {
    tag: 'Guardrails',
    summary: 'Get a guardrail',
  },
  updateGuardrail: {
    tag: 'Guardrails',
    summary: 'Change a guardrail',
    description: 'An absent field does not change, null clears it, a list replaces the list.',
  },
  deleteGuardrail: {
    tag: 'Guardrails',
    summary: 'Delete a guardrail',
  },
  listGuardrailKeyAssignments: {
    tag: 'Guardrails',
    summary: 'List the API keys that a guardrail is assigned to',
  },
  bulkAssignKeysToGuardrail: {
    tag: 'Guardrails',
    summary: 'Assign a guardrail to API keys',
  },
  bulkUnassignKeysFromGuardrail: {
    tag: 'Guardrails',
    summary: 'Take a guardrail from API keys',
  },
  bulkAssignWorkspacesToGuardrail: {
    tag: 'Guardrails',
    summary: 'Assign a guardrail to workspaces',
  },
  bulkUnassignWorkspacesFromGuardrail: {
    tag: 'Guardrails',
    summary: 'Take a guardrail from workspaces',
  },
  getModels: {
    tag: 'Models',
    summary: 'List models',
  },
  listModelsUser: {
    tag: 'Models',
    summary: 'List the models that the caller may use',
  },
  listModelsCount: {
    tag: 'Models',
    summary: 'Count models',
  },
  getModel: {
    tag: 'Models',
    summary: 'Get a model',
  },
  retrieveModel: {
    tag: 'Models',
    summary: 'Get a model by its id',
  },
  listEndpoints: {
    tag: 'Models',
    summary: 'List the endpoints of a model',
  },
  listAllEndpoints: {
    tag: 'Models',
    summary: 'List the endpoints of all models, with their health and cooldowns',
  },
  listEndpointsZdr: {
    tag: 'Models',
    summary: 'List the endpoints that remain under zero data retention',
  },
  listProviders: {
    tag: 'Models',
    summary: 'List providers',
  },
  getGeneration: {
    tag: 'Records',
    summary: 'Get the record of a request',
  },
  listGenerationContent: {
    tag: 'Records',
    summary: 'Get the prompt and the response of a request, where its workspace keeps them',
  },
  listGenerations: {
    tag: 'Records',
    summary: 'List records of requests',
  },
  getActivity: {
    tag: 'Records',
    summary: 'Sum requests up by minute, hour, day, model, provider, key, workspace, user or tag',
  },
  listAudit: {
    tag: 'Records',
    summary: 'List changes that management operations have made',
  },
  streamRequests: {
    tag: 'Records',
    summary: 'Watch records as they are made',
    events: { schema: 'Generation', always: true },
  },
  getHello: {
    tag: 'Interface',
    summary: 'Say hello',
    description:
      'Answers the probe with which a client warms its connection up, without a key. `HEAD /` at the root does the same.',
  },
  getOpenApi: {
    tag: 'Interface',
    summary: 'Get this document',
  },
};

/**
 * HTTP statuses of errors, and which operations have them: `body` those that take one, `inference` those that may serve.
 * `also` names others.
 */
export const failures: readonly {
  name: string;
  status: number;
  meaning: string;
  of: 'all' | 'body' | 'inference';
  also?: readonly string[];
}[] = [
  { name: 'BadRequest', status: 400, meaning: 'The request is wrong; the message says where', of: 'all' },
  { name: 'Unauthorized', status: 401, meaning: 'There is no key, or not a known one', of: 'all' },
  { name: 'PaymentRequired', status: 402, meaning: 'A budget has too little left', of: 'inference' },
  { name: 'Forbidden', status: 403, meaning: 'The key may not do this, or a guardrail refuses it', of: 'all' },
  { name: 'NotFound', status: 404, meaning: 'There is no such thing for this caller', of: 'all' },
  { name: 'RequestTimeout', status: 408, meaning: 'The time of the request is up', of: 'all' },
  { name: 'ContentTooLarge', status: 413, meaning: 'The body is too large', of: 'body' },
  { name: 'UnsupportedMediaType', status: 415, meaning: 'The body is not declared as JSON', of: 'body' },
  { name: 'UnprocessableContent', status: 422, meaning: 'Fields of the body contradict each other', of: 'body' },
  {
    name: 'TooManyRequests',
    status: 429,
    meaning: 'A rate limit is reached; see Retry-After',
    of: 'inference',
    also: ['streamRequests'],
  },
  { name: 'InternalServerError', status: 500, meaning: 'Something went wrong inside the gateway', of: 'all' },
  { name: 'BadGateway', status: 502, meaning: 'No provider gave a usable response', of: 'inference' },
  { name: 'ServiceUnavailable', status: 503, meaning: 'The store, or all that could serve, is away', of: 'all' },
  { name: 'GatewayTimeout', status: 504, meaning: 'A plugin took too long', of: 'inference' },
  { name: 'UpstreamTimeout', status: 524, meaning: 'Providers took too long', of: 'inference' },
  { name: 'Overloaded', status: 529, meaning: 'Providers are overloaded', of: 'inference' },
];

/** A parameter of a path or query. */
export interface ParameterText {
  /** What the text in the address is read as. Default: what its schema says of the text. */
  schema?: DescribedSchema;
  /** What it is for. */
  meaning: string;
}

const boolean = { type: 'string', enum: ['true', 'false'] };
/** @see src/schema/instant.ts */
const time = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
    { type: 'integer', minimum: 0 },
  ],
};
const price = { type: 'number', minimum: 0 };
const inWorkspace = { schema: { type: 'string', format: 'uuid' }, meaning: 'Only of this workspace' };

/** By name; of a path as `path.id`, of one operation alone as `getActivity.from`. */
export const parameters: Readonly<Record<string, ParameterText>> = {
  'path.model': { meaning: 'The model’s slug' },
  alt: { meaning: '`sse`: the response has server-sent events; `json`: JSON, of a stream as one array, as without it' },
  $alt: { meaning: 'The same as `alt`' },
  fields: { meaning: 'Refused where it is not empty: a part of a response cannot be asked for' },
  $fields: { meaning: 'The same as `fields`' },
  'path.id': { meaning: 'Id; of a workspace also its slug' },
  'path.item_id': { meaning: 'Id of the item' },
  'path.hash': { meaning: 'Hash of the key' },
  'path.interval': { schema: { type: 'string', enum: [...intervals] }, meaning: 'When the budget starts anew' },
  'path.author': { meaning: 'The model’s slug before the slash' },
  'path.slug': { meaning: 'The model’s slug after the slash' },
  offset: { schema: { type: 'integer', minimum: 0, default: 0 }, meaning: 'How many to skip' },
  limit: { schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 }, meaning: 'The most that are listed' },
  'listInputItems.limit': {
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    meaning: 'The most that are listed',
  },
  'listConversationItems.limit': {
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    meaning: 'The most that are listed',
  },
  order: { meaning: '`desc`: the newest item first. Default `desc`' },
  after: { meaning: 'Id of the item after which the page begins' },
  include: { meaning: 'Parts that are to be shown; all that was kept is shown without it' },
  'include[]': { meaning: 'The same, as client libraries write lists' },
  'retrieveResponse.stream': { meaning: 'Only `false`: a kept response is not streamed again' },
  'streamRequests.limit': {
    schema: { type: 'integer', minimum: 1, maximum: 100 },
    meaning: 'The stream ends after so many records',
  },
  workspace_id: inWorkspace,
  id: { meaning: 'Id of the generation, as the header X-Generation-Id has it' },
  provider: { meaning: 'Only of this provider' },
  model: { meaning: 'Only of this model' },
  api_key_hash: { meaning: 'Only of the API key with this hash' },
  user: { meaning: 'Only of this user, as requests name it' },
  tag: { meaning: 'Only requests whose key has this label' },
  'getActivity.sort': { meaning: 'The highest first; default: by day and names' },
  'getActivity.top': {
    schema: { type: 'integer', minimum: 1, maximum: 1_000 },
    meaning: 'The most different groups beside time: the highest over the whole time; default: all',
  },
  'getActivity.limit': {
    schema: { type: 'integer', minimum: 1, maximum: 1_000 },
    meaning: 'The most rows; default: all',
  },
  session: { meaning: 'Only of this session, as requests name it' },
  outcome: { meaning: 'Only those that ended so' },
  from: { schema: time, meaning: 'From this time on: a date, a time with its zone, or seconds since 1970' },
  to: { schema: time, meaning: 'Before this time; a date is included' },
  'getActivity.from': { schema: time, meaning: 'The first minute, hour or day, UTC: see `grain`' },
  'getActivity.to': { schema: time, meaning: 'The last minute, hour or day, UTC' },
  date: { schema: time, meaning: 'One day, UTC, instead of `from` and `to`' },
  group_by: {
    meaning:
      'What has sums of its own: some of time, day, model, provider, key, workspace, user and tag, with commas; or none',
  },
  grain: { meaning: 'The length of time by which `from` and `to` count, and that `time` tells apart' },
  include_disabled: { schema: { ...boolean, default: 'false' }, meaning: 'Whether disabled keys are listed' },
  actor: { meaning: 'Only by this actor: the hash of an API key, or the id of a user' },
  operation: { meaning: 'Only by this operation, such as createWorkspace' },
  resource_type: { meaning: 'Only of things of this kind' },
  resource_id: { meaning: 'Only of the thing with this id' },
  q: { meaning: 'A part of the name or slug' },
  supported_parameters: { meaning: 'Names, with commas: one endpoint supports all of them' },
  input_modalities: { meaning: 'Kinds of input, with commas: the model accepts all of them' },
  output_modalities: { meaning: 'Kinds of output, with commas: the model produces one of them; all: any' },
  context: { schema: { type: 'integer', minimum: 1 }, meaning: 'The smallest context length, in tokens' },
  min_price: { schema: price, meaning: 'The lowest price of the prompt, in USD per million tokens' },
  max_price: { schema: price, meaning: 'The highest price of the prompt, in USD per million tokens' },
  model_authors: { meaning: 'Names, with commas: one of them is the author' },
  providers: { meaning: 'Slugs or names, with commas: one of them serves the model' },
  arch: { meaning: 'The family of models' },
  distillable: { meaning: 'Whether its output may train other models' },
  zdr: { meaning: 'Whether an endpoint remains under zero data retention' },
  sort: { meaning: 'The order' },
  category: { meaning: 'What it is good for' },
  region: { meaning: 'Where an endpoint runs' },
  after_id: { meaning: 'Of clients that speak Messages: the models behind this one' },
  before_id: { meaning: 'Of clients that speak Messages: the models before this one' },
  pageSize: {
    schema: { type: 'integer', minimum: 1 },
    meaning: 'Of clients that speak Gemini: at most so many, and at most 1000',
  },
  pageToken: { meaning: 'Of clients that speak Gemini: `nextPageToken` of the page before' },
  use_rss: { meaning: 'There is no feed, only JSON' },
  use_rss_chat_links: { meaning: 'Of the feed; without effect on JSON' },
};

/** Headers that a request may have, besides `Authorization` and those of HTTP. */
export const headerParameters: readonly {
  name: string;
  schema: DescribedSchema;
  meaning: string;
  of?: readonly string[];
}[] = [
  {
    name: 'X-Service-Metadata',
    schema: { type: 'string', enum: ['enabled', 'disabled'], default: 'disabled' },
    meaning: '`enabled`: the response says how it was routed, in `service_metadata`',
    of: [
      'createChatCompletion',
      'createCompletion',
      'createResponse',
      'compactResponse',
      'createMessage',
      'generateContent',
      'streamGenerateContent',
      'createEmbeddings',
      'createRerank',
      'createModerations',
      'createDecisions',
      'createImages',
      'editImages',
      'createImage',
    ],
  },
  {
    name: 'X-Session-Id',
    schema: { type: 'string', maxLength: 256 },
    meaning: 'Stands for `session_id` where the body has none',
    of: [
      'createChatCompletion',
      'explainChatCompletion',
      'createCompletion',
      'explainCompletion',
      'createResponse',
      'explainResponse',
      'compactResponse',
      'countInputTokens',
      'createMessage',
      'explainMessage',
      'countMessageTokens',
      'generateContent',
      'streamGenerateContent',
      'countTokens',
      'explainContent',
      'embedContent',
      'batchEmbedContents',
      'createEmbeddings',
      'explainEmbeddings',
      'createRerank',
      'explainRerank',
      'createModerations',
      'explainModerations',
      'createDecisions',
      'explainDecisions',
      'createSpeech',
      'explainSpeech',
      'createTranscription',
      'explainTranscription',
      'createTranslation',
      'explainTranslation',
      'createImages',
      'explainImages',
      'editImages',
      'explainImageEdits',
      'createImage',
      'explainImage',
    ],
  },
  {
    name: 'X-Service-Timeout-Ms',
    schema: { type: 'number', exclusiveMinimum: 0 },
    meaning: 'The request may take at most so long; a longer time than the gateway’s own changes nothing',
  },
];
