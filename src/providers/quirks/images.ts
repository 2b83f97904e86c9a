import type { ChatQuirks } from '../../dialects/openai-chat/quirks.ts';

/**
 * The images of OpenAI's own models. They give base64 alone, and refuse fields that they do not know.
 * @see https://platform.openai.com/docs/api-reference/images/create
 */
export const imagesOfOpenAi: NonNullable<ChatQuirks['images']> = {
  streams: true,
  base64Word: null,
  fields: [
    'quality',
    'output_format',
    'background',
    'output_compression',
    'moderation',
    'input_fidelity',
    'safety_identifier',
    'frame_count',
    'frame_duration_ms',
    'svg',
    'complexity',
    'user',
  ],
};
