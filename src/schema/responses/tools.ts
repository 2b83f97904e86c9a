import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, textUpTo } from '../bounded.ts';
import { cacheControlSchema } from '../chat/part.ts';
import { isWebSearch } from '../chat/tool.ts';
import { chosen } from '../chosen.ts';
import { flagOrNull, text, textOrNull } from '../scalars.ts';
import { isRefusedTool, isServerTool } from './hosted.ts';

const toolName = lazily(() => textUpTo(128).min(1));

const functionSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('function'),
    /** Name of the function. */
    name: toolName(),
    /** Description of the function, for the model. */
    description: textOrNull(),
    /** JSON Schema of the arguments. */
    parameters: jsonObject().nullish(),
    /** true: arguments follow the schema exactly. */
    strict: flagOrNull(),
    /** Asks the provider to cache the prompt up to here. */
    cache_control: cacheControlSchema().nullish(),
  }),
);
export interface ResponsesFunction extends z.infer<ReturnType<typeof functionSchema>> {}

const customSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('custom'),
    /** Name of the tool. */
    name: toolName(),
    /** Description of the tool, for the model. */
    description: textOrNull(),
    /** Form of the input. */
    format: z
      .looseObject({
        /** `text`, or a `grammar`. */
        type: text(),
        /** Language of the grammar. */
        syntax: textOrNull(),
        /** The grammar. */
        definition: textOrNull(),
      })
      .nullish(),
  }),
);
export interface CustomTool extends z.infer<ReturnType<typeof customSchema>> {}

const namespaceSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('namespace'),
    /** Name of the group. */
    name: toolName(),
    /** Description of the group. */
    description: textOrNull(),
    /** Functions and custom tools. */
    tools: list(
      chosen(
        [functionSchema(), customSchema()],
        ({ type }) => (type === 'function' ? functionSchema() : type === 'custom' ? customSchema() : null),
        ['function', 'custom'],
      ),
    ),
  }),
);
export interface NamespaceTool extends z.infer<ReturnType<typeof namespaceSchema>> {}

const localShellSchema = lazily(() => z.looseObject({ type: z.literal('local_shell') }));
export interface LocalShellTool extends z.infer<ReturnType<typeof localShellSchema>> {}

const toolSearchSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool. */
    type: z.literal('tool_search'),
    /** The side that runs it. */
    execution: z.enum(['server', 'client']).nullish(),
    /** Description of the tools that it finds, for the model. */
    description: textOrNull(),
    /** JSON Schema of the arguments. */
    parameters: jsonObject().nullish(),
  }),
);
export interface ToolSearchTool extends z.infer<ReturnType<typeof toolSearchSchema>> {}

const hostedToolSchema = lazily(() => z.looseObject({ type: text() }));
/** A tool that the provider or the gateway runs, or one that is refused by name. */
export interface HostedTool extends z.infer<ReturnType<typeof hostedToolSchema>> {}

/** A tool whose `type` is known, and decides the rest. */
export type KnownTool = ResponsesFunction | CustomTool | NamespaceTool | LocalShellTool | ToolSearchTool;
export type ResponsesTool = KnownTool | HostedTool;

const known: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace', 'local_shell', 'tool_search']);

export function isKnownTool(tool: ResponsesTool): tool is KnownTool {
  return known.has(tool.type);
}

/** Tells whether the provider or the gateway runs a tool, or a tool is refused by name. */
function isHosted(type: unknown): boolean {
  return isWebSearch(type) || isRefusedTool(type) || isServerTool(type);
}

/** Tools that the provider runs pass: `responsesIssues` refuses those that it may not run, by name. */
export const responsesToolSchema = lazily((): z.ZodType<ResponsesTool, ResponsesTool> => {
  const byType = new Map<string, z.ZodType>([
    ['function', functionSchema()],
    ['custom', customSchema()],
    ['namespace', namespaceSchema()],
    ['local_shell', localShellSchema()],
    ['tool_search', toolSearchSchema()],
  ]);
  return chosen(
    [...byType.values(), hostedToolSchema()],
    ({ type }) => byType.get(type as string) ?? (isHosted(type) ? hostedToolSchema() : null),
    [...byType.keys(), 'web_search'],
  ) as never;
});

const allowedToolsSchema = lazily(() =>
  z.looseObject({
    /** Several tools. */
    type: z.literal('allowed_tools'),
    /** `auto`: the model may call one of them. `required`: it calls one. */
    mode: z.enum(['auto', 'required']),
    /** The tools, by type and name. */
    tools: list(z.looseObject({ type: text(), name: textOrNull(), namespace: textOrNull() })),
  }),
);
export interface AllowedTools extends z.infer<ReturnType<typeof allowedToolsSchema>> {}

const namedChoiceSchema = lazily(() =>
  z.looseObject({ type: z.enum(['function', 'custom']), name: text().min(1), namespace: textOrNull() }),
);
const hostedChoiceSchema = lazily(() => z.looseObject({ type: text(), name: textOrNull() }));
export type ObjectChoice =
  | AllowedTools
  | z.infer<ReturnType<typeof namedChoiceSchema>>
  | z.infer<ReturnType<typeof hostedChoiceSchema>>;

/** The tool that the model may or must call. */
export const responsesToolChoiceSchema = lazily(() =>
  z.union([
    z.enum(['none', 'auto', 'required']),
    chosen(
      [allowedToolsSchema(), namedChoiceSchema(), hostedChoiceSchema()],
      ({ type }) => {
        if (type === 'allowed_tools') return allowedToolsSchema();
        if (type === 'function' || type === 'custom') return namedChoiceSchema();
        const isTool = type === 'local_shell' || type === 'tool_search' || isHosted(type);
        return isTool ? hostedChoiceSchema() : null;
      },
      ['function', 'custom', 'allowed_tools', 'local_shell', 'tool_search', 'web_search'],
    ) as unknown as z.ZodType<ObjectChoice, ObjectChoice>,
  ]),
);
export type ResponsesToolChoice = z.infer<ReturnType<typeof responsesToolChoiceSchema>>;
