import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { optionalInteger, optionalText, text, textOrNull } from '../scalars.ts';
import { contentPartSchema, textPartSchema } from './part.ts';

// A union with one member, so that a part of another type gets another message than a faulty text part.
const textContent = lazily(() => z.union([text(), list(z.discriminatedUnion('type', [textPartSchema()]))]));
const anyContent = lazily(() => z.union([text(), list(contentPartSchema())]));

export const systemMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('system'),
    /** The content: text, or parts. */
    content: textContent(),
    /** Name of the speaker. */
    name: optionalText(),
  }),
);
export interface SystemMessage extends z.infer<ReturnType<typeof systemMessageSchema>> {}

export const developerMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('developer'),
    /** The content: text, or parts. */
    content: textContent(),
    /** Name of the speaker. */
    name: optionalText(),
  }),
);
export interface DeveloperMessage extends z.infer<ReturnType<typeof developerMessageSchema>> {}

export const userMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('user'),
    /** The content: text, or parts. */
    content: anyContent(),
    /** Name of the speaker. */
    name: optionalText(),
  }),
);
export interface UserMessage extends z.infer<ReturnType<typeof userMessageSchema>> {}

export const toolCallSchema = lazily(() =>
  z.looseObject({
    /** Id of the call; the tool's message answers with it. */
    id: text(),
    /** Always `function`. */
    type: z.literal('function'),
    /** `arguments` is the model's text: usually JSON, but without guarantee. */
    function: z.looseObject({ name: text(), arguments: text() }),
  }),
);
export interface ToolCall extends z.infer<ReturnType<typeof toolCallSchema>> {}

// `format` accepts any string: a client must be able to send back reasoning in a format that we do not know yet.
const reasoningCommon = lazily(() => ({
  /** Id of the part. */
  id: textOrNull(),
  /** Place among the parts. */
  index: optionalInteger(),
  /** Format of the part, as the provider names it. */
  format: textOrNull(),
}));

/** A part of a model's reasoning. Clients send the sequence back unchanged. */
export const reasoningDetailSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('reasoning.summary'), summary: text(), ...reasoningCommon() }),
    z.looseObject({ type: z.literal('reasoning.encrypted'), data: text(), ...reasoningCommon() }),
    z.looseObject({
      /** The kind of the part. */
      type: z.literal('reasoning.text'),
      /** The thought. */
      text: textOrNull(),
      /** Proves to the provider that the thought is its own. */
      signature: textOrNull(),
      ...reasoningCommon(),
    }),
  ]),
);
export type ReasoningDetail = z.infer<ReturnType<typeof reasoningDetailSchema>>;

/** `data` is base64, `expires_at` a Unix timestamp in seconds. */
export const audioOutputSchema = lazily(() =>
  z.looseObject({
    /** Id of the sound, to refer to it later. */
    id: optionalText(),
    /** The sound, base64. */
    data: optionalText(),
    /** The spoken text. */
    transcript: optionalText(),
    /** Unix seconds: until then the id is known. */
    expires_at: optionalInteger(),
  }),
);
export interface AudioOutput extends z.infer<ReturnType<typeof audioOutputSchema>> {}

export const imageOutputSchema = lazily(() => z.looseObject({ image_url: z.looseObject({ url: text() }) }));
export interface ImageOutput extends z.infer<ReturnType<typeof imageOutputSchema>> {}

/** Both the message in a result and the message that a client sends back. */
export const assistantMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('assistant'),
    /** The content: text, or parts. */
    content: anyContent().nullish(),
    /** Name of the speaker. */
    name: optionalText(),
    /** The tools that the model calls. */
    tool_calls: list(toolCallSchema()).optional(),
    /** The reason why the model refuses to respond. */
    refusal: textOrNull(),
    /** The model's thoughts, as text. */
    reasoning: textOrNull(),
    /** The model's thoughts, in parts that can be sent back. */
    reasoning_details: list(reasoningDetailSchema()).optional(),
    /** Images that the model made. */
    images: list(imageOutputSchema()).optional(),
    /** Sound that the model made. */
    audio: audioOutputSchema().optional(),
  }),
);
export interface AssistantMessage extends z.infer<ReturnType<typeof assistantMessageSchema>> {}

export const toolMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('tool'),
    /** The content: text, or parts. */
    content: anyContent(),
    /** Id of the call that the message answers. */
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
