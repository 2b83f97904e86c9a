import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { list } from './bounded.ts';
import { contentPartSchema, textPartSchema } from './part.ts';
import { optionalInteger, optionalText, text, textOrNull } from './scalars.ts';

// A union with one member, so that a part of another type gets another message than a faulty text part.
const textContent = lazily(() => z.union([text(), list(z.discriminatedUnion('type', [textPartSchema()]))]));
const anyContent = lazily(() => z.union([text(), list(contentPartSchema())]));

export const systemMessageSchema = lazily(() =>
  z.looseObject({
    role: z.literal('system'),
    content: textContent(),
    name: optionalText(),
  }),
);
export interface SystemMessage extends z.infer<ReturnType<typeof systemMessageSchema>> {}

export const developerMessageSchema = lazily(() =>
  z.looseObject({
    role: z.literal('developer'),
    content: textContent(),
    name: optionalText(),
  }),
);
export interface DeveloperMessage extends z.infer<ReturnType<typeof developerMessageSchema>> {}

export const userMessageSchema = lazily(() =>
  z.looseObject({
    role: z.literal('user'),
    content: anyContent(),
    name: optionalText(),
  }),
);
export interface UserMessage extends z.infer<ReturnType<typeof userMessageSchema>> {}

export const toolCallSchema = lazily(() =>
  z.looseObject({
    id: text(),
    type: z.literal('function'),
    /** `arguments` is the model's text: usually JSON, but without guarantee. */
    function: z.looseObject({ name: text(), arguments: text() }),
  }),
);
export interface ToolCall extends z.infer<ReturnType<typeof toolCallSchema>> {}

// `format` accepts any string: a client must be able to send back reasoning in a format that we do not know yet.
const reasoningCommon = lazily(() => ({
  id: textOrNull(),
  index: optionalInteger(),
  format: textOrNull(),
}));

/** A part of a model's reasoning. Clients send the sequence back unchanged. */
export const reasoningDetailSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('reasoning.summary'), summary: text(), ...reasoningCommon() }),
    z.looseObject({ type: z.literal('reasoning.encrypted'), data: text(), ...reasoningCommon() }),
    z.looseObject({
      type: z.literal('reasoning.text'),
      text: textOrNull(),
      signature: textOrNull(),
      ...reasoningCommon(),
    }),
  ]),
);
export type ReasoningDetail = z.infer<ReturnType<typeof reasoningDetailSchema>>;

/** `data` is base64, `expires_at` a Unix timestamp in seconds. */
export const audioOutputSchema = lazily(() =>
  z.looseObject({
    id: optionalText(),
    data: optionalText(),
    transcript: optionalText(),
    expires_at: optionalInteger(),
  }),
);
export interface AudioOutput extends z.infer<ReturnType<typeof audioOutputSchema>> {}

export const imageOutputSchema = lazily(() => z.looseObject({ image_url: z.looseObject({ url: text() }) }));
export interface ImageOutput extends z.infer<ReturnType<typeof imageOutputSchema>> {}

/** Both the message in a result and the message that a client sends back. */
export const assistantMessageSchema = lazily(() =>
  z.looseObject({
    role: z.literal('assistant'),
    content: anyContent().nullish(),
    name: optionalText(),
    tool_calls: list(toolCallSchema()).optional(),
    refusal: textOrNull(),
    reasoning: textOrNull(),
    reasoning_details: list(reasoningDetailSchema()).optional(),
    images: list(imageOutputSchema()).optional(),
    audio: audioOutputSchema().optional(),
  }),
);
export interface AssistantMessage extends z.infer<ReturnType<typeof assistantMessageSchema>> {}

export const toolMessageSchema = lazily(() =>
  z.looseObject({
    role: z.literal('tool'),
    content: anyContent(),
    tool_call_id: text(),
  }),
);
export interface ToolMessage extends z.infer<ReturnType<typeof toolMessageSchema>> {}

export const chatMessageSchema = lazily(() =>
  z.discriminatedUnion('role', [
    systemMessageSchema(),
    userMessageSchema(),
    assistantMessageSchema(),
    toolMessageSchema(),
    developerMessageSchema(),
  ]),
);
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage | DeveloperMessage;
