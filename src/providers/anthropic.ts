import { anthropicMessages } from '../dialects/index.ts';
import { completeProvider } from './provider.ts';

/** Claude, from its maker. */
export const anthropic = completeProvider({
  slug: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  dialect: anthropicMessages,
  auth: (request, { secret }) =>
    secret === '' ? request : { ...request, headers: { ...request.headers, 'x-api-key': secret } },
  env: ['ANTHROPIC_API_KEY'],
  dataPolicy: { zeroRetention: false, trains: null },
});
