import { defineDialect } from '../dialect.ts';
import { type Profile, profiles } from '../fit/index.ts';
import { claudeName } from '../shared/claude-name.ts';
import { decodeError } from './errors.ts';
import { type AiSdkQuirks, aiSdkQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

const claude: Profile = { ...profiles.aiSdk, ...profiles.claude };

/**
 * The input and output of the AI SDK's language models of version 4, as JSON and as server-sent events of JSON. The
 * models run in the host app's process; `fromAiSdk` calls them.
 * @see https://github.com/vercel/ai/tree/main/packages/provider/src/language-model/v4
 */
export const aiSdk = defineDialect<AiSdkQuirks>({
  name: 'ai-sdk',
  quirks: aiSdkQuirks,
  counting: ({ reasoningBeside }) => ({ reasoningBeside }),
  profile: (_quirks, model) => (claudeName(model) === null ? profiles.aiSdk : claude),
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
