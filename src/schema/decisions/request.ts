import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

/** The most questions of a request, choices of a question and levels of a score, as OpenAI has them. */
const most = { questions: 400, choices: 255 } as const;

const breakpoint = lazily(() => z.strictObject({ mode: z.literal('explicit') }).nullish());

const textPart = lazily(() =>
  z.strictObject({
    /** The kind of the part. */
    type: z.literal('input_text'),
    /** The text. */
    text: z.string(),
    /** The end of a part of the prompt that the provider keeps. */
    prompt_cache_breakpoint: breakpoint(),
  }),
);

const imagePart = lazily(() =>
  z.strictObject({
    /** The kind of the part. */
    type: z.literal('input_image'),
    /** The picture, as a URL or a data URL. */
    image_url: z.string().min(1),
    /** The detail in which the model looks at it. Default: the provider decides. */
    detail: z.enum(['low', 'high', 'auto', 'original']).nullish(),
    /** The end of a part of the prompt that the provider keeps. */
    prompt_cache_breakpoint: breakpoint(),
  }),
);

const jsonPart = lazily(() =>
  z.strictObject({
    /** The kind of the part. */
    type: z.literal('input_json'),
    /** The data: an object, or a list of objects. */
    data: z.union([jsonObject(), list(jsonObject())]),
  }),
);

/** A text, or the parts of what a user says or a question asks. */
const parts = lazily(() =>
  z.union([z.string(), list(z.discriminatedUnion('type', [textPart(), imagePart(), jsonPart()])).min(1)]),
);

const texts = lazily(() => z.union([z.string(), list(textPart()).min(1)]));

const output = lazily(() =>
  z.union([z.string(), list(z.discriminatedUnion('type', [textPart(), imagePart()])).min(1)]),
);

const ofItem = lazily(() => ({
  /** The id of the item. */
  id: z.string().nullish(),
  /** The state of the item. */
  status: z.enum(['in_progress', 'completed', 'incomplete']).nullish(),
}));

const message = <const Role extends string>(role: Role) => ({
  /** The kind of the item. Default `message`. */
  type: z.literal('message').optional(),
  /** The speaker. */
  role: z.literal(role),
});

/** One item of a conversation: a message, a call of a tool, or its output. */
const item = lazily(() =>
  z.union([
    z.strictObject({
      ...message('user'),
      /** The words, or parts. */
      content: parts(),
    }),
    z.strictObject({
      ...message('developer'),
      /** The words. */
      content: texts(),
    }),
    z.strictObject({
      ...message('system'),
      /** The words. */
      content: texts(),
    }),
    z.strictObject({
      ...message('assistant'),
      /** The words, or parts. */
      content: z.union([
        z.string(),
        list(
          z.discriminatedUnion('type', [
            z.strictObject({
              /** The kind of the part. */
              type: z.literal('output_text'),
              /** The text. */
              text: z.string(),
            }),
            z.strictObject({
              /** The kind of the part. */
              type: z.literal('refusal'),
              /** The words of the refusal. */
              refusal: z.string(),
            }),
          ]),
        ).min(1),
      ]),
      /** The place of the message in a turn. */
      phase: z.enum(['commentary', 'final_answer']).nullish(),
    }),
    z.strictObject({
      /** The kind of the item. */
      type: z.literal('function_call'),
      /** The id of the call; its output has the same. */
      call_id: z.string().min(1),
      /** The name of the tool. */
      name: z.string().min(1),
      /** The arguments, as the model wrote them. */
      arguments: z.string(),
      /** The name of the group that the tool is in. */
      namespace: z.string().nullish(),
      ...ofItem(),
    }),
    z.strictObject({
      /** The kind of the item. */
      type: z.literal('custom_tool_call'),
      /** The id of the call; its output has the same. */
      call_id: z.string().min(1),
      /** The name of the tool. */
      name: z.string().min(1),
      /** The input, as the model wrote it. */
      input: z.string(),
      /** The name of the group that the tool is in. */
      namespace: z.string().nullish(),
      ...ofItem(),
    }),
    z.strictObject({
      /** The kind of the item. */
      type: z.enum(['function_call_output', 'custom_tool_call_output']),
      /** The id of the call; its output has the same. */
      call_id: z.string().min(1),
      /** The result of the tool. */
      output: output(),
      ...ofItem(),
    }),
  ]),
);

const ofQuestion = lazily(() => ({
  /** The question: a text, or parts. */
  instructions: parts(),
  /** A name that the answer has too. */
  name: z.string().min(1).nullish(),
}));

const question = lazily(() =>
  z.discriminatedUnion('type', [
    z.strictObject({
      /** Asks how likely the instructions are true. */
      type: z.literal('predicate'),
      ...ofQuestion(),
    }),
    z.strictObject({
      /** Asks for one of the choices. */
      type: z.literal('choice'),
      ...ofQuestion(),
      /** The choices, 2 to 255. A text and a boolean are different values. */
      choices: list(z.strictObject({ value: z.union([z.string(), z.boolean()]), description: z.string().optional() }))
        .min(2)
        .max(most.choices),
    }),
    z.strictObject({
      /** Asks for a place on a scale. */
      type: z.literal('score'),
      ...ofQuestion(),
      /** The levels, the lowest first. */
      levels: list(z.strictObject({ label: z.string(), description: z.string().optional() }))
        .min(2)
        .max(most.choices),
    }),
  ]),
);

/** The body of POST /decisions. */
export const decisionsRequestSchema = lazily(() =>
  z.strictObject({
    /** A text, or a conversation: the questions are about it. */
    input: z.union([z.string().min(1, expectation('expected a text that is not empty')), list(item()).min(1)]),
    /** The questions, 1 to 400. The answers have their order. */
    questions: list(question()).min(1).max(most.questions),
    ...taskFields(),
    /** The name under which the provider keeps prompts. */
    prompt_cache_key: z.string().nullish(),
    /** The way in which the provider keeps prompts. */
    prompt_cache_options: z
      .strictObject({ mode: z.enum(['implicit', 'explicit']).nullish(), ttl: z.literal('30m').optional() })
      .nullish(),
    /** A name of the client's user, for the provider. */
    safety_identifier: textUpTo(128).nullish(),
  }),
);
export interface DecisionsRequest extends z.infer<ReturnType<typeof decisionsRequestSchema>> {}

/** One item of the input, where it is a conversation. */
export type DecisionItem = Exclude<DecisionsRequest['input'], string>[number];

/** One question. */
export type DecisionQuestion = DecisionsRequest['questions'][number];
