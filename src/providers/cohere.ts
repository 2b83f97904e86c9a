import { cohereChat } from '../dialects/index.ts';
import { completeProvider } from './provider.ts';

/** Cohere, by its own interface, which has reasoning, citations and documents. */
export const cohere = completeProvider({
  slug: 'cohere',
  name: 'Cohere',
  baseUrl: 'https://api.cohere.com/v2',
  dialect: cohereChat,
  also: {
    'openai-chat': {
      baseUrl: 'https://api.cohere.ai/compatibility/v1',
      quirks: { dropParams: ['n', 'logit_bias', 'parallel_tool_calls'], streamOptions: false },
    },
  },
  env: ['COHERE_API_KEY'],
  dataPolicy: { zeroRetention: false, trains: false },
});
