import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { gatewayShape } from '../gateway-shape.ts';
import { text, textOrNull } from '../scalars.ts';

/** A turn of the conversation. What a part holds is checked by `geminiIssues`; parts that are not known pass. */
export const geminiContentSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker: `user`, `model` or `function`; absent: `user`. */
    role: textOrNull(),
    /** The parts of the turn. */
    parts: list(jsonObject()).nullish(),
  }),
);
export interface GeminiContent extends z.infer<ReturnType<typeof geminiContentSchema>> {}

/**
 * A request of the Gemini wire. Unknown fields pass. A field of Google's may also be written with underscores
 * (`system_instruction`), as its JSON allows both.
 * @see https://ai.google.dev/api/generate-content
 */
export const geminiRequestSchema = lazily(() =>
  z.looseObject({
    /** The conversation, oldest first. */
    contents: list(geminiContentSchema()).min(1),
    /** Instructions; the role is ignored. */
    systemInstruction: z.union([text(), geminiContentSchema()]).nullish(),
    /** Tools that the model may call. */
    tools: list(jsonObject()).nullish(),
    /** The tool that the model may or must call. */
    toolConfig: jsonObject().nullish(),
    /** Settings of the response, such as `temperature` and `responseSchema`. */
    generationConfig: jsonObject().nullish(),
    /** Google's filters: only a Google upstream has them. */
    safetySettings: list(jsonObject()).nullish(),
    /** The tier that is asked for. */
    serviceTier: textOrNull(),
    /** Fallback models in order; the model of the path comes before them. */
    models: list(text()).nullish(),
    /** The caller's own id of its user. */
    user: textOrNull(),
    ...gatewayShape(),
  }),
);
/** The body of `POST /models/{model}:generateContent`. */
export interface GeminiRequest extends z.infer<ReturnType<typeof geminiRequestSchema>> {}
