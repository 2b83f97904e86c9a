import { expect } from 'vitest';
import type { SentToAimock } from './aimock.ts';
import type { DialectName } from './dialects.ts';
import { authorizationOf, signedHeaders } from './sigv4.ts';

/** A provider of the gateway whose wire format aimock serves. */
export interface AimockTarget {
  /** Its slug; built in unless it says otherwise. */
  provider: string;
  /** Its name in responses. */
  name: string;
  dialect: Exclude<DialectName, 'ai-sdk'>;
  /** One that aimock knows to think. */
  model: string;
  /** Of aimock, where this provider would be. */
  baseUrl(url: string): string;
  credential: { apiKey: string } | { credential: Record<string, string> };
  /** What the provider wants to see of the credential; for a second provider at the same place, a bearer token. */
  checkCredential(sent: SentToAimock): void;
  /** Addresses behind the base, for JSON and for a stream. */
  paths: readonly [string, string];
  /** Where the body has the base64 of an image. */
  // biome-ignore lint/suspicious/noExplicitAny: a body of any wire format
  imageIn(body: any): unknown;
  /** Where the body has the schema of the output. */
  // biome-ignore lint/suspicious/noExplicitAny: a body of any wire format
  schemaIn(body: any): unknown;
  /** Words that this provider has for its errors, by their kind; see `aimockErrors`. */
  errors: Readonly<Record<AimockError, readonly [number, string]>>;
  /** What proves that a thought came back with the call that it led to; empty: aimock seals no thoughts of it. */
  sealed: readonly string[];
  /** Ids by which aimock knows two calls of `get_weather`, where the provider takes none. */
  ownIds?: readonly string[];
  /** What aimock does not do as this provider does, each with the reason. */
  limits: Partial<Record<AimockLimit, string>>;
}

export type AimockError = 'invalid' | 'unauthenticated' | 'forbidden' | 'limited' | 'broken' | 'overloaded';

export type AimockLimit =
  /** It writes no thoughts as thoughts. */
  | 'thoughts'
  /** Its errors do not have the form of the provider, so that their words are lost. */
  | 'errorWords'
  /** Its errors have no word of the provider's own. */
  | 'errorCodes'
  /** Its streams cannot be cut within the arguments of a call. */
  | 'cutCalls'
  /** Its matcher does not see that output of a form is asked for. */
  | 'seesForm';

const openaiErrors = {
  invalid: [400, 'invalid_request_error'],
  unauthenticated: [401, 'authentication_error'],
  forbidden: [403, 'permission_error'],
  limited: [429, 'rate_limit_error'],
  broken: [500, 'server_error'],
  overloaded: [503, 'overloaded_error'],
} as const;
const googleErrors = {
  invalid: [400, 'INVALID_ARGUMENT'],
  unauthenticated: [401, 'UNAUTHENTICATED'],
  forbidden: [403, 'PERMISSION_DENIED'],
  limited: [429, 'RESOURCE_EXHAUSTED'],
  broken: [500, 'INTERNAL'],
  overloaded: [503, 'UNAVAILABLE'],
} as const;

const apiKey = 'sk-aimock-0123456789';
const inHeader =
  (name: string, value: string = apiKey) =>
  ({ headers }: SentToAimock) => {
    const names = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'].filter((one) => headers[one]);
    expect([names, headers[name]]).toEqual([[name], value]);
  };
const bearer = inHeader('authorization', `Bearer ${apiKey}`);
const aws = {
  accessKeyId: 'AKIDEXAMPLE012345678',
  secretAccessKey: 'wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY',
  region: 'us-west-2',
};
/** What the thoughts of Claude are sealed with. */
export const seals = { signature: 'c2lnbmVkLWJ5LWFpbW9jaw==', redacted: 'cmVkYWN0ZWQtYnktYWltb2Nr' };
const noForm = 'aimock leaves it out of what it matches';
const oneEvent = 'aimock writes all calls in the last event of a stream';

const google = {
  dialect: 'google-generate-content',
  model: 'gemini-2.5-pro',
  paths: ['/models/gemini-2.5-pro:generateContent', '/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
  imageIn: (body) => body.contents[0].parts[1].inlineData.data,
  schemaIn: ({ generationConfig: config }) => config.responseJsonSchema ?? config.responseSchema,
  errors: googleErrors,
  sealed: [],
  limits: { cutCalls: oneEvent, seesForm: noForm },
} satisfies Partial<AimockTarget>;
const chat = {
  dialect: 'openai-chat',
  model: 'gpt-5',
  paths: ['/chat/completions', '/chat/completions'],
  imageIn: (body) => body.messages[0].content[1].image_url.url.split(',')[1],
  schemaIn: (body) => body.response_format.json_schema.schema,
  errors: openaiErrors,
  sealed: [],
  limits: {},
} satisfies Partial<AimockTarget>;

const responses = {
  dialect: 'openai-responses',
  model: 'gpt-5',
  paths: ['/responses', '/responses'],
  imageIn: (body) => body.input[0].content[1].image_url.split(',')[1],
  schemaIn: (body) => body.text.format.schema,
  errors: openaiErrors,
  // "aimock-encrypted-reasoning:", as it begins.
  sealed: ['YWltb2NrLWVuY3J5cHRlZC1yZWFzb25pbmc6'],
  limits: { seesForm: noForm },
} satisfies Partial<AimockTarget>;

/**
 * All that aimock serves of what the gateway speaks. Nobody here speaks its InvokeModel of Bedrock, its Ollama and its
 * Interactions of Gemini; what it serves as xAI or Groq are the chat completions of OpenAI. In no dialect does it
 * break off a body of JSON, send an error as an event of a stream, or end a stream early but well: its cuts break the
 * connection.
 */
export const aimockTargets: readonly AimockTarget[] = [
  {
    ...chat,
    provider: 'openai',
    name: 'OpenAI',
    baseUrl: (url) => `${url}/v1`,
    credential: { apiKey },
    checkCredential: bearer,
  },
  {
    ...chat,
    provider: 'azure',
    name: 'Azure',
    baseUrl: (url) => `${url}/openai/deployments/gpt-5`,
    credential: { apiKey },
    checkCredential: inHeader('api-key'),
  },
  {
    ...chat,
    // Not built in: a server of one's own, as which aimock is OpenRouter, with its comments, costs and errors.
    provider: 'router',
    name: 'router',
    baseUrl: (url) => `${url}/api/v1`,
    credential: { apiKey },
    checkCredential: bearer,
    limits: { errorCodes: 'aimock writes the status where others have a word' },
  },
  {
    ...responses,
    provider: 'openai',
    name: 'OpenAI',
    baseUrl: (url) => `${url}/v1`,
    credential: { apiKey },
    checkCredential: bearer,
  },
  {
    ...responses,
    provider: 'azure',
    name: 'Azure',
    baseUrl: (url) => `${url}/openai/v1`,
    credential: { apiKey },
    checkCredential: inHeader('api-key'),
  },
  {
    provider: 'anthropic',
    name: 'Anthropic',
    dialect: 'anthropic-messages',
    model: 'claude-sonnet-4-5',
    baseUrl: (url) => `${url}/v1`,
    credential: { apiKey },
    checkCredential(sent) {
      inHeader('x-api-key')(sent);
      expect(sent.headers['anthropic-version']).toBe('2023-06-01');
    },
    paths: ['/messages', '/messages'],
    imageIn: (body) => body.messages[0].content[1].source.data,
    schemaIn: (body) => body.output_config.format.schema,
    errors: { ...openaiErrors, broken: [500, 'api_error'], overloaded: [529, 'overloaded_error'] },
    sealed: Object.values(seals),
    limits: { seesForm: noForm },
  },
  {
    ...google,
    provider: 'google-ai-studio',
    name: 'Google AI Studio',
    baseUrl: (url) => `${url}/v1beta`,
    credential: { apiKey },
    checkCredential: inHeader('x-goog-api-key'),
  },
  {
    ...google,
    provider: 'google-vertex',
    name: 'Google Vertex AI',
    baseUrl: (url) => `${url}/v1/projects/my-project/locations/global/publishers/google`,
    credential: { apiKey },
    checkCredential: inHeader('x-goog-api-key'),
    ownIds: ['call_gemini_get_weather_0', 'call_gemini_get_weather_1'],
  },
  {
    provider: 'amazon-bedrock',
    name: 'Amazon Bedrock',
    dialect: 'bedrock-converse',
    model: 'us.anthropic.claude-sonnet-4-5',
    baseUrl: (url) => url,
    credential: { credential: aws },
    // aimock does not look at the signature: it is computed anew of what came over the wire.
    checkCredential({ path, headers, text }) {
      const authorization = headers.authorization as string;
      const request = { method: 'POST', url: `http://${headers.host}${path}`, headers, body: text };
      expect(authorization).toBe(
        authorizationOf(request, { ...aws, service: 'bedrock' }, signedHeaders(authorization)),
      );
    },
    paths: ['/model/us.anthropic.claude-sonnet-4-5/converse', '/model/us.anthropic.claude-sonnet-4-5/converse-stream'],
    imageIn: (body) => body.messages[0].content[1].image.source.bytes,
    schemaIn: (body) => JSON.parse(body.outputConfig.textFormat.structure.jsonSchema.schema),
    errors: {
      ...openaiErrors,
      invalid: [400, 'ValidationException'],
      limited: [429, 'ThrottlingException'],
      overloaded: [503, 'ServiceUnavailableException'],
    },
    sealed: [],
    limits: {
      errorWords: "aimock writes the errors of Converse in Anthropic's form, which AWS never does",
      seesForm: noForm,
    },
  },
  {
    provider: 'cohere',
    name: 'Cohere',
    dialect: 'cohere-chat',
    model: 'command-a-reasoning-08-2025',
    baseUrl: (url) => `${url}/v2`,
    credential: { apiKey },
    checkCredential: bearer,
    paths: ['/chat', '/chat'],
    imageIn: (body) => body.messages[0].content[1].image_url.url.split(',')[1],
    schemaIn: (body) => body.response_format.json_schema,
    errors: openaiErrors,
    sealed: [],
    limits: { thoughts: 'aimock writes the thoughts of Cohere as text in front of the answer' },
  },
];

/** `openai-responses (openai)` */
export const aimockTable = aimockTargets.map((target): [string, AimockTarget] => [
  `${target.dialect} (${target.provider})`,
  target,
]);
