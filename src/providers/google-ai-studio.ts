import { googleGenerateContent } from '../dialects/index.ts';
import { type Auth, bearer, completeProvider } from './provider.ts';

/** @see https://ai.google.dev/gemini-api/docs/api-key */
const apiKey: Auth = (request, { secret }) =>
  secret === '' ? request : { ...request, headers: { ...request.headers, 'x-goog-api-key': secret } };

/** The Gemini API. */
export const googleAiStudio = completeProvider({
  slug: 'google-ai-studio',
  name: 'Google AI Studio',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  dialect: googleGenerateContent,
  auth: apiKey,
  quirks: { penaltiesIn25: false, generatesOn: true },
  also: {
    'openai-chat': {
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      auth: bearer,
      quirks: { reasoningBeside: false },
    },
  },
  env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  dataPolicy: { zeroRetention: false, trains: null },
});
