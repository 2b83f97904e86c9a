import { bedrockConverse } from '../dialects/index.ts';
import { type Auth, bearer, type Credential, completeProvider } from './provider.ts';

/** The keys of signatures, by credential. Each is valid for a day, and takes four hashes to make. */
const signingKeys = new WeakMap<Credential, Map<string, ArrayBuffer>>();
/** The most signing keys of one credential: keys of earlier days are not needed. */
const mostSigningKeys = 4;

/**
 * Signs in at AWS. A key of the Bedrock API goes into a header. A secret access key signs the request, its body
 * included.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
 */
export const awsAuth: Auth = async (request, credential, clock) => {
  if (credential.secret !== '') return bearer(request, credential, clock);
  const { accessKeyId, secretAccessKey, sessionToken, region } = credential.parts ?? {};
  if (!accessKeyId || !secretAccessKey || !region) return request;
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: request.body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: 'bedrock',
    region,
    cache: keysOf(credential),
    datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const { url, headers } = await signer.sign();
  return { ...request, url: url.href, headers: Object.fromEntries(headers) };
};

function keysOf(credential: Credential): Map<string, ArrayBuffer> {
  let keys = signingKeys.get(credential);
  if (keys === undefined || keys.size >= mostSigningKeys) {
    keys = new Map();
    signingKeys.set(credential, keys);
  }
  return keys;
}

const keyText = /^[\x21-\x7e]{16,4096}$/;

/** Models of many authors at AWS. The region is part of its address. */
export const amazonBedrock = completeProvider({
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  baseUrl: ({ parts }) => `https://bedrock-runtime.${parts?.region}.amazonaws.com`,
  dialect: bedrockConverse,
  auth: awsAuth,
  credentialShape: {
    parts: {
      region: {
        expected: 'a region such as us-east-1',
        env: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
        isSecret: false,
        pattern: /^[a-z]{2,3}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/,
      },
      apiKey: { expected: 'a key of the Bedrock API', isOptional: true },
      accessKeyId: {
        expected: 'the id of an access key',
        isOptional: true,
        pattern: /^\w{16,128}$/,
        env: ['AWS_ACCESS_KEY_ID'],
      },
      secretAccessKey: {
        expected: 'a secret access key',
        isOptional: true,
        pattern: keyText,
        env: ['AWS_SECRET_ACCESS_KEY'],
      },
      sessionToken: {
        expected: 'the token of a session',
        isOptional: true,
        pattern: keyText,
        env: ['AWS_SESSION_TOKEN'],
      },
    },
    oneOf: [['apiKey'], ['accessKeyId', 'secretAccessKey']],
  },
  // The provider goes on with a stream that the client has closed.
  quirks: { generatesOn: true },
  env: ['AWS_BEARER_TOKEN_BEDROCK'],
  dataPolicy: { zeroRetention: true, trains: null },
});
