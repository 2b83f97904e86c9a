import { googleGenerateContent } from '../dialects/index.ts';
import { type Auth, type Credential, completeProvider } from './provider.ts';

/** The lifetime of a token: Google accepts none that lives longer. */
const lifetimeMs = 60 * 60 * 1000;
/** The time before its end at which a token is renewed: the provider's clock may be ahead, and requests take time. */
const marginMs = 10 * 60 * 1000;

interface SignedToken {
  token: Promise<string>;
  renewAtMs: number;
}

const tokens = new WeakMap<Credential, SignedToken>();

/**
 * Without a project, an API key of the express mode determines the project. The version is that of Google's own
 * clients: the other one lacks fields that current models need.
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
export const googleVertex = completeProvider({
  slug: 'google-vertex',
  name: 'Google Vertex AI',
  baseUrl,
  dialect: googleGenerateContent,
  auth,
  quirks: { serviceTier: 'header', embeddings: 'predict', callIds: false, countsParts: true, generatesOn: true },
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
        // Files of environment variables write line ends as two characters, a backslash and an n.
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

/**
 * A token that the service account signs itself, so that no token has to be fetched. It is kept until shortly before
 * its end; signing takes a millisecond.
 * @throws Error for an invalid private key
 * @see https://google.aip.dev/auth/4111
 */
function serviceAccountToken(credential: Credential, nowMs: number): Promise<string> {
  const known = tokens.get(credential);
  // A clock that was set back must not keep a token for longer.
  if (known && nowMs < known.renewAtMs && nowMs > known.renewAtMs - lifetimeMs) return known.token;
  const token = sign(credential, Math.floor(nowMs / 1000));
  tokens.set(credential, { token, renewAtMs: nowMs + lifetimeMs - marginMs });
  token.catch(() => {
    if (tokens.get(credential)?.token === token) tokens.delete(credential);
  });
  return token;
}

async function sign({ parts }: Credential, nowSeconds: number): Promise<string> {
  const { clientEmail = '', privateKey = '', privateKeyId } = parts ?? {};
  // Loaded late, because few gateways need it.
  const { importPKCS8, SignJWT } = await import('jose');
  const key = await importPKCS8(privateKey.replaceAll('\\n', '\n').trim(), 'RS256');
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId === undefined ? {} : { kid: privateKeyId }) })
    .setIssuer(clientEmail)
    .setSubject(clientEmail)
    .setAudience('https://aiplatform.googleapis.com/')
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeMs / 1000)
    .sign(key);
}
