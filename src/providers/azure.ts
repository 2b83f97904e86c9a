import { openaiChat } from '../dialects/openai-chat/index.ts';
import { type Auth, bearer, type Credential, completeProvider } from './provider.ts';
import { imagesOfOpenAi } from './quirks/images.ts';

/**
 * A host of Microsoft, so that a credential goes nowhere else. The path may only be one that is added anyway. Gateways
 * that customers run themselves, such as `azure-api.net`, are set up by `baseUrl`.
 */
const endpoint =
  /^https:\/\/[a-z0-9][a-z0-9-]{0,62}\.(?:(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)|api\.cognitive\.microsoft\.com)(?:\/|\/openai\/?|\/openai\/v1\/?)?$/i;

/** The v1 address, which needs no version. The model name of an endpoint is the deployment. */
function baseUrl({ parts }: Credential): string {
  const origin = parts?.endpoint?.replace(/^(https:\/\/[^/]+).*$/i, '$1');
  return `${origin ?? `https://${parts?.resource}.openai.azure.com`}/openai/v1`;
}

/** A key goes into a header of Azure's own, a token of Entra into the usual one. */
const auth: Auth = (request, credential, clock) => {
  const token = credential.parts?.token;
  if (token !== undefined) return bearer(request, { secret: token }, clock);
  return credential.secret === ''
    ? request
    : { ...request, headers: { ...request.headers, 'api-key': credential.secret } };
};

/**
 * Azure OpenAI, in Microsoft Foundry. It speaks Responses too: `dialect: 'openai-responses'`.
 * @see https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 */
export const azure = completeProvider({
  slug: 'azure',
  name: 'Azure',
  baseUrl,
  dialect: openaiChat,
  auth,
  credentialShape: {
    parts: {
      apiKey: { expected: 'a key of the resource', isOptional: true },
      token: { expected: 'an access token of Microsoft Entra', isOptional: true },
      resource: {
        expected: 'the name of a resource: letters, digits and hyphens',
        env: ['AZURE_RESOURCE_NAME'],
        isOptional: true,
        isSecret: false,
        pattern: /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/i,
      },
      endpoint: {
        expected: 'the address of a resource, such as https://my-resource.openai.azure.com',
        env: ['AZURE_OPENAI_ENDPOINT'],
        isOptional: true,
        isSecret: false,
        pattern: endpoint,
      },
    },
    oneOf: [
      ['apiKey', 'resource'],
      ['apiKey', 'endpoint'],
      ['token', 'resource'],
      ['token', 'endpoint'],
    ],
    ofAddress: ['resource', 'endpoint'],
  },
  env: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
  quirks: {
    decisions: false,
    lowDetail: true,
    reasoningBeside: false,
    maxTokensField: 'max_completion_tokens',
    developerRole: true,
    messageOrder: 'any',
    images: imagesOfOpenAi,
  },
  also: {
    // OpenAI cannot read reasoning that Azure has encrypted.
    'openai-responses': { baseUrl, quirks: { lowDetail: true, reasoningFormat: 'azure-openai-responses-v1' } },
  },
});
