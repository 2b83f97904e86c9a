import { googleGenerateContent } from '../dialects/google-generate-content.ts';
import { serviceAccountToken } from './google-vertex/service-account.ts';
import { type Auth, type Credential, defineProvider } from './provider.ts';

/**
 * Without a project, an API key of the express mode says whose project it is. The version is that of Google's own
 * clients: the other one lacks fields that models of today need.
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/express-mode/rest
 */
function baseUrl({ parts }: Credential): string {
  const { project, location = 'global' } = parts ?? {};
  if (project === undefined) return 'https://aiplatform.googleapis.com/v1beta1/publishers/google';
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1beta1/projects/${project}/locations/${location}/publishers/google`;
}

const auth: Auth = async (request, credential, clock) => {
  const added: Record<string, string> =
    credential.parts?.privateKey === undefined
      ? { 'x-goog-api-key': credential.secret }
      : { authorization: `Bearer ${await serviceAccountToken(credential, clock.now())}` };
  return { ...request, headers: { ...request.headers, ...added } };
};

/** Gemini in Google Cloud: by an API key, or by the key of a service account, whose file a workspace may send as it is. */
export const googleVertex = defineProvider({
  slug: 'google-vertex',
  name: 'Google Vertex AI',
  baseUrl,
  dialect: googleGenerateContent,
  auth,
  quirks: { serviceTier: 'header', callIds: false, generatesOn: true },
  credentialShape: {
    parts: {
      apiKey: { expected: 'an API key', isOptional: true },
      clientEmail: {
        expected: 'the address of a service account',
        env: ['GOOGLE_CLIENT_EMAIL'],
        isOptional: true,
        isSecret: false,
        pattern: /^[\w.+-]{1,128}@[\w.-]{1,128}$/,
      },
      privateKey: {
        expected: 'a private key that begins with -----BEGIN PRIVATE KEY-----',
        env: ['GOOGLE_PRIVATE_KEY'],
        isOptional: true,
        // Files of environment variables write the ends of its lines as two characters.
        pattern: /^-----BEGIN PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\n){1,5000}-----END PRIVATE KEY-----(?:\s|\\n)*$/,
      },
      privateKeyId: { expected: 'the id of the private key', isOptional: true, isSecret: false },
      project: {
        expected: 'the id of a project such as my-project-123',
        env: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'],
        isOptional: true,
        isSecret: false,
        pattern: /^[a-z0-9][a-z0-9.:-]{2,62}$/,
      },
      location: {
        expected: 'a location such as global or us-central1',
        env: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'],
        isOptional: true,
        isSecret: false,
        pattern: /^[a-z][a-z0-9-]{1,30}$/,
      },
    },
    oneOf: [['apiKey'], ['clientEmail', 'privateKey', 'project']],
    aliases: {
      client_email: 'clientEmail',
      private_key: 'privateKey',
      private_key_id: 'privateKeyId',
      project_id: 'project',
      type: null,
      client_id: null,
      auth_uri: null,
      token_uri: null,
      auth_provider_x509_cert_url: null,
      client_x509_cert_url: null,
      universe_domain: null,
    },
  },
  env: ['GOOGLE_VERTEX_API_KEY'],
  dataPolicy: { zeroRetention: true, trains: false },
});
