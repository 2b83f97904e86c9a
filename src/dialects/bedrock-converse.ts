import { awsEventStream } from '../base/framing/aws-event-stream.ts';
import { decodeError } from './bedrock-converse/errors.ts';
import { type ConverseQuirks, converseQuirks } from './bedrock-converse/quirks.ts';
import { encodeRequest } from './bedrock-converse/request.ts';
import { decodeResult } from './bedrock-converse/result.ts';
import { streamDecoder } from './bedrock-converse/stream.ts';
import type { Dialect } from './dialect.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';

/**
 * The Converse API of Amazon Bedrock: one request shape for the models of many authors.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export const bedrockConverse: Dialect<ConverseQuirks> = {
  name: 'bedrock-converse',
  framing: awsEventStream,
  nativeChunks: false,
  quirks: converseQuirks,
  minMaxTokens: () => 0,
  // `maxTokens` limits reasoning and response together.
  counting: () => ({ reasoningBeside: false }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
