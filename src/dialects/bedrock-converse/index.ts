import { awsEventStream } from '../../base/framing/aws-event-stream.ts';
import { defineDialect } from '../dialect.ts';
import { type Profile, profiles } from '../fit/index.ts';
import { claudeName } from '../shared/claude-name.ts';
import { bedrockEmbeddings, bedrockRerank } from '../tasks/bedrock.ts';
import { decodeError } from './errors.ts';
import { traitsOf } from './model.ts';
import { countRequest } from './native/count.ts';
import { takesWhole } from './native/invoke.ts';
import { type ConverseQuirks, converseQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

const mistral: Profile = { ...profiles.bedrock, ...profiles.shortIds };
const claude: Profile = { ...profiles.bedrock, ...profiles.claude };

function profileOf({ family }: ConverseQuirks, model: string): Profile {
  if (traitsOf(model, family).shortToolIds) return mistral;
  return claudeName(model) !== null || family?.startsWith('claude') ? claude : profiles.bedrock;
}

/**
 * The Converse API of Amazon Bedrock: one request shape for the models of many authors.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export const bedrockConverse = defineDialect<ConverseQuirks>({
  name: 'bedrock-converse',
  framing: awsEventStream,
  quirks: converseQuirks,
  // `maxTokens` limits reasoning and response together.
  counting: () => ({ reasoningBeside: false }),
  tasks: { embeddings: bedrockEmbeddings, rerank: bedrockRerank },
  profile: profileOf,
  encodeRequest,
  count: countRequest,
  takesWhole,
  decodeResult,
  streamDecoder,
  decodeError,
});
