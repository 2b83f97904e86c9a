import { openaiChat } from '../dialects/openai-chat/index.ts';
import { type Credential, completeProvider } from './provider.ts';

/** Workers AI. The account is part of its address. */
export const cloudflare = completeProvider({
  slug: 'cloudflare',
  name: 'Cloudflare',
  baseUrl,
  dialect: openaiChat,
  also: { 'openai-responses': { baseUrl } },
  credentialShape: {
    parts: {
      apiKey: { expected: 'an API token' },
      accountId: {
        expected: 'the id of an account: 32 hexadecimal digits',
        isSecret: false,
        pattern: /^[0-9a-f]{32}$/,
        env: ['CLOUDFLARE_ACCOUNT_ID'],
      },
    },
  },
  env: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'],
});

function baseUrl({ parts }: Credential): string {
  return `https://api.cloudflare.com/client/v4/accounts/${parts?.accountId}/ai/v1`;
}
