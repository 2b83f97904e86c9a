import * as z from 'zod';
import { list } from './bounded.ts';
import { contentPartSchema, textPartSchema } from './part.ts';
import { optionalInteger, optionalText, text, textOrNull } from './scalars.ts';

// A union of one, so that another type of part is told apart from a faulty text.
const textContent = z.union([text, list(z.discriminatedUnion('type', [textPartSchema]))]);
const anyContent = z.union([text, list(contentPartSchema)]);

export const systemMessageSchema = z.looseObject({
  role: z.literal('system'),
  content: textContent,
  name: optionalText,
});
export interface SystemMessage extends z.infer<typeof systemMessageSchema> {}

export const developerMessageSchema = z.looseObject({
  role: z.literal('developer'),
  content: textContent,
  name: optionalText,
});
export interface DeveloperMessage extends z.infer<typeof developerMessageSchema> {}

export const userMessageSchema = z.looseObject({
  role: z.literal('user'),
  content: anyContent,
  name: optionalText,
});
export interface UserMessage extends z.infer<typeof userMessageSchema> {}

export const toolCallSchema = z.looseObject({
  id: text,
  type: z.literal('function'),
  /** `arguments` is the model's text: JSON as a rule, not by guarantee. */
  function: z.looseObject({ name: text, arguments: text }),
});
export interface ToolCall extends z.infer<typeof toolCallSchema> {}

// A format we do not know yet must survive the echo of a conversation, so it is any string.
const reasoningCommon = {
  id: textOrNull,
  index: optionalInteger,
  format: textOrNull,
};

/** A piece of a model's reasoning. Clients send the sequence back unchanged. */
export const reasoningDetailSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reasoning.summary'), summary: text, ...reasoningCommon }),
  z.looseObject({ type: z.literal('reasoning.encrypted'), data: text, ...reasoningCommon }),
  z.looseObject({
    type: z.literal('reasoning.text'),
    text: textOrNull,
    signature: textOrNull,
    ...reasoningCommon,
  }),
]);
export type ReasoningDetail = z.infer<typeof reasoningDetailSchema>;

/** All fields optional; `data` is base64, `expires_at` a Unix timestamp in seconds. */
export const audioOutputSchema = z.looseObject({
  id: optionalText,
  data: optionalText,
  transcript: optionalText,
  expires_at: optionalInteger,
});
export interface AudioOutput extends z.infer<typeof audioOutputSchema> {}

export const imageOutputSchema = z.looseObject({ image_url: z.looseObject({ url: text }) });
export interface ImageOutput extends z.infer<typeof imageOutputSchema> {}

/** As a client echoes it and as a result holds it. */
export const assistantMessageSchema = z.looseObject({
  role: z.literal('assistant'),
  content: anyContent.nullish(),
  name: optionalText,
  tool_calls: list(toolCallSchema).optional(),
  refusal: textOrNull,
  reasoning: textOrNull,
  reasoning_details: list(reasoningDetailSchema).optional(),
  images: list(imageOutputSchema).optional(),
  audio: audioOutputSchema.optional(),
});
export interface AssistantMessage extends z.infer<typeof assistantMessageSchema> {}

export const toolMessageSchema = z.looseObject({
  role: z.literal('tool'),
  content: anyContent,
  tool_call_id: text,
});
export interface ToolMessage extends z.infer<typeof toolMessageSchema> {}

export const chatMessageSchema = z.discriminatedUnion('role', [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  toolMessageSchema,
  developerMessageSchema,
]);
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage | DeveloperMessage;
