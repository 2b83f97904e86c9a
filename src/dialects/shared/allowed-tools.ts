import { isObject, type Loose } from '../../base/values.ts';

/** A choice that lists tools: the model may call no others. */
export interface AllowedTools {
  readonly names: ReadonlySet<unknown>;
  /** true: one of them must be called. */
  readonly isForced: boolean;
}

/**
 * Reads OpenAI's list of allowed tools, in either of its two shapes. null: the choice is another one.
 * @see https://platform.openai.com/docs/guides/function-calling "Allowed tools"
 */
export function allowedTools(choice: unknown): AllowedTools | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null;
  const { tools, mode }: Loose = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  if (!Array.isArray(tools)) return null;
  return { names: new Set(tools.map(nameIn)), isForced: mode === 'required' };
}

function nameIn(tool: unknown): unknown {
  if (!isObject(tool)) return undefined;
  return isObject(tool.function) ? tool.function.name : tool.name;
}
