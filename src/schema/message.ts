import * as z from 'zod';
import { contentPartSchema, textPartSchema } from './part.ts';

const textContent = z.union([z.string(), z.array(textPartSchema)]);
const anyContent = z.union([z.string(), z.array(contentPartSchema)]);

export const systemMessageSchema = z.looseObject({
  role: z.literal('system'),
  content: textContent,
  name: z.string().optional(),
});
export interface SystemMessage extends z.infer<typeof systemMessageSchema> {}

export const developerMessageSchema = z.looseObject({
  role: z.literal('developer'),
  content: textContent,
  name: z.string().optional(),
});
export interface DeveloperMessage extends z.infer<typeof developerMessageSchema> {}

export const userMessageSchema = z.looseObject({
  role: z.literal('user'),
  content: anyContent,
  name: z.string().optional(),
});
export interface UserMessage extends z.infer<typeof userMessageSchema> {}

export const toolCallSchema = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  /** `arguments` is the model's text: JSON as a rule, not by guarantee. */
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
export interface ToolCall extends z.infer<typeof toolCallSchema> {}

// A format we do not know yet must survive the echo of a conversation, so it is any string.
const reasoningCommon = {
  id: z.string().nullish(),
  index: z.int().optional(),
  format: z.string().nullish(),
};

/** A piece of a model's reasoning. Clients send the sequence back unchanged. */
export const reasoningDetailSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reasoning.summary'), summary: z.string(), ...reasoningCommon }),
  z.looseObject({ type: z.literal('reasoning.encrypted'), data: z.string(), ...reasoningCommon }),
  z.looseObject({
    type: z.literal('reasoning.text'),
    text: z.string().nullish(),
    signature: z.string().nullish(),
    ...reasoningCommon,
  }),
]);
export type ReasoningDetail = z.infer<typeof reasoningDetailSchema>;

/** All fields optional; `data` is base64, `expires_at` a Unix timestamp in seconds. */
export const audioOutputSchema = z.looseObject({
  id: z.string().optional(),
  data: z.string().optional(),
  transcript: z.string().optional(),
  expires_at: z.int().optional(),
});
export interface AudioOutput extends z.infer<typeof audioOutputSchema> {}

export const imageOutputSchema = z.looseObject({ image_url: z.looseObject({ url: z.string() }) });
export interface ImageOutput extends z.infer<typeof imageOutputSchema> {}

/** As a client echoes it and as a result holds it. */
export const assistantMessageSchema = z.looseObject({
  role: z.literal('assistant'),
  content: anyContent.nullish(),
  name: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  refusal: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(reasoningDetailSchema).optional(),
  images: z.array(imageOutputSchema).optional(),
  audio: audioOutputSchema.optional(),
});
export interface AssistantMessage extends z.infer<typeof assistantMessageSchema> {}

export const toolMessageSchema = z.looseObject({
  role: z.literal('tool'),
  content: anyContent,
  tool_call_id: z.string(),
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
