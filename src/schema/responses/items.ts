import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { chosen } from '../chosen.ts';
import { optionalText, text, textOrNull } from '../scalars.ts';
import { hostedItemTypes, isHostedItem } from './hosted.ts';
import { inputContentSchema, instructionContentSchema, outputContentSchema } from './parts.ts';
import { responsesToolSchema } from './tools.ts';

/** Clients that write the easy form of a message leave `type` out. */
const messageType = lazily(() => z.literal('message').optional());

const userItemSchema = lazily(() =>
  z.looseObject({ type: messageType(), role: z.literal('user'), content: inputContentSchema() }),
);
const instructionItemSchema = lazily(() =>
  z.looseObject({ type: messageType(), role: z.enum(['system', 'developer']), content: instructionContentSchema() }),
);
const assistantItemSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: messageType(),
    /** Role of the speaker. */
    role: z.literal('assistant'),
    /** The text of the model. */
    content: outputContentSchema().nullish(),
    /** The phase of the text: about the work, or the response itself. */
    phase: textOrNull(),
  }),
);
export interface UserItem extends z.infer<ReturnType<typeof userItemSchema>> {}
export interface InstructionItem extends z.infer<ReturnType<typeof instructionItemSchema>> {}
export interface AssistantItem extends z.infer<ReturnType<typeof assistantItemSchema>> {}
export type MessageItem = UserItem | InstructionItem | AssistantItem;

const functionCallSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('function_call'),
    /** Id of the call; its output has the same. */
    call_id: text(),
    /** Name of the function. */
    name: text().min(1),
    /** Name of the group that the function is in. */
    namespace: textOrNull(),
    /** The model's text: usually JSON, but without guarantee. */
    arguments: text(),
  }),
);
export interface FunctionCallItem extends z.infer<ReturnType<typeof functionCallSchema>> {}

const customCallSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('custom_tool_call'),
    /** Id of the call; its output has the same. */
    call_id: text(),
    /** Name of the tool. */
    name: text().min(1),
    /** Name of the group that the tool is in. */
    namespace: textOrNull(),
    /** The input of the tool. */
    input: text(),
  }),
);
export interface CustomCallItem extends z.infer<ReturnType<typeof customCallSchema>> {}

const callOutputSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.enum(['function_call_output', 'custom_tool_call_output']),
    /** Id of the call that the output is of. */
    call_id: text(),
    /** The result of the tool: text, or parts. */
    output: inputContentSchema(),
  }),
);
export interface CallOutputItem extends z.infer<ReturnType<typeof callOutputSchema>> {}

const shellCallSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('local_shell_call'),
    /** Id of the item. */
    id: textOrNull(),
    /** Id of the call; its output has the same. */
    call_id: textOrNull(),
    /** The command, and how it is run. */
    action: jsonObject(),
  }),
);
export interface ShellCallItem extends z.infer<ReturnType<typeof shellCallSchema>> {}

const shellOutputSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('local_shell_call_output'),
    /** Id of the call that the output is of, where `call_id` is not there. */
    id: textOrNull(),
    /** Id of the call that the output is of. */
    call_id: textOrNull(),
    /** The output of the shell. */
    output: text(),
  }),
);
export interface ShellOutputItem extends z.infer<ReturnType<typeof shellOutputSchema>> {}

const searchCallSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('tool_search_call'),
    /** Id of the call; null: the provider ran it. */
    call_id: textOrNull(),
    /** The side that ran it. */
    execution: z.enum(['server', 'client']).nullish(),
    /** The arguments of the search: usually an object. */
    arguments: z.unknown(),
  }),
);
export interface SearchCallItem extends z.infer<ReturnType<typeof searchCallSchema>> {}

const searchOutputSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('tool_search_output'),
    /** Id of the call; null: the provider ran it. */
    call_id: textOrNull(),
    /** The side that ran it. */
    execution: z.enum(['server', 'client']).nullish(),
    /** The tools that were found: the model may call them from here on. */
    tools: list(responsesToolSchema()),
  }),
);
export interface SearchOutputItem extends z.infer<ReturnType<typeof searchOutputSchema>> {}

const additionalToolsSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('additional_tools'),
    /** Role of the party that gives the tools. */
    role: z.literal('developer').nullish(),
    /** Tools that the model may call from here on. */
    tools: list(responsesToolSchema()),
  }),
);
export interface AdditionalToolsItem extends z.infer<ReturnType<typeof additionalToolsSchema>> {}

const thoughts = lazily(() => list(z.looseObject({ text: text() })).nullish());

const reasoningItemSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.literal('reasoning'),
    /** Id of the item. */
    id: textOrNull(),
    /** Summaries of the thoughts. */
    summary: thoughts(),
    /** The thoughts. */
    content: thoughts(),
    /** The thoughts, as only who wrote them can read them. */
    encrypted_content: textOrNull(),
    /** Proves to the provider that the thought is its own. */
    signature: textOrNull(),
    /** Format of the thoughts, as the provider names it. */
    format: textOrNull(),
  }),
);
export interface ReasoningItem extends z.infer<ReturnType<typeof reasoningItemSchema>> {}

const compactionSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
    type: z.enum(['compaction', 'compaction_summary']),
    /** The conversation that the item stands for, as only who wrote it can read it. */
    encrypted_content: text(),
  }),
);
export interface CompactionItem extends z.infer<ReturnType<typeof compactionSchema>> {}

const itemReferenceSchema = lazily(() => z.looseObject({ type: z.literal('item_reference'), id: optionalText() }));
export interface ItemReference extends z.infer<ReturnType<typeof itemReferenceSchema>> {}

const hostedItemSchema = lazily(() => z.looseObject({ type: z.custom<HostedType>(isHostedItem) }));
type HostedType = (typeof hostedItemTypes)[number] | `${string}:${string}`;
/** A call of a tool that the provider ran, or something else that only the provider understands. */
export interface HostedItem extends z.infer<ReturnType<typeof hostedItemSchema>> {}

export type InputItem =
  | MessageItem
  | FunctionCallItem
  | CustomCallItem
  | CallOutputItem
  | ShellCallItem
  | ShellOutputItem
  | SearchCallItem
  | SearchOutputItem
  | AdditionalToolsItem
  | ReasoningItem
  | CompactionItem
  | ItemReference
  | HostedItem;

const itemSchemas = lazily(() => {
  const byType = new Map<string, z.ZodType>([
    ['function_call', functionCallSchema()],
    ['function_call_output', callOutputSchema()],
    ['custom_tool_call', customCallSchema()],
    ['custom_tool_call_output', callOutputSchema()],
    ['local_shell_call', shellCallSchema()],
    ['local_shell_call_output', shellOutputSchema()],
    ['tool_search_call', searchCallSchema()],
    ['tool_search_output', searchOutputSchema()],
    ['additional_tools', additionalToolsSchema()],
    ['reasoning', reasoningItemSchema()],
    ['compaction', compactionSchema()],
    ['compaction_summary', compactionSchema()],
    ['item_reference', itemReferenceSchema()],
  ]);
  const byRole = new Map<unknown, z.ZodType>([
    ['user', userItemSchema()],
    ['system', instructionItemSchema()],
    ['developer', instructionItemSchema()],
    ['assistant', assistantItemSchema()],
  ]);
  return { byType, byRole };
});

/** A message of a role that is none. */
const anyMessageSchema = lazily(() =>
  z.looseObject({ type: messageType(), role: z.enum(['user', 'system', 'developer', 'assistant']) }),
);

/** An input item. Fields that it may have beside those that are checked pass. */
export const inputItemSchema = lazily((): z.ZodType<InputItem, InputItem> => {
  const { byType, byRole } = itemSchemas();
  const options = [...new Set([...byRole.values(), ...byType.values()]), anyMessageSchema(), hostedItemSchema()];
  const known = ['message', ...byType.keys(), ...hostedItemTypes];
  const choose = ({ type, role }: Record<string, unknown>): z.ZodType | null => {
    if (type === 'message' || ((type ?? undefined) === undefined && role !== undefined))
      return byRole.get(role) ?? anyMessageSchema();
    return byType.get(type as string) ?? (isHostedItem(type) ? hostedItemSchema() : null);
  };
  return chosen(options, choose, known) as never;
});

/** Tells whether an item is a message, in either form. */
export function isMessageItem(item: InputItem): item is MessageItem {
  return item.type === undefined || item.type === 'message';
}
