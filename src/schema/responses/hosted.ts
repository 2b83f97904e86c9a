/** Items that a provider's own tools leave in a conversation. Agents send them back as they came. */
export const hostedItemTypes = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'program',
  'program_output',
  'compaction_trigger',
  'configuration_update',
] as const;

const types: ReadonlySet<unknown> = new Set(hostedItemTypes);

/** A server tool of a gateway has its own items, such as `service:web_search`. */
const serverToolItem = /^[\w-]{1,64}:[\w-]{1,64}$/;

export function isHostedItem(type: unknown): boolean {
  return types.has(type) || (typeof type === 'string' && serverToolItem.test(type));
}

/** Tells whether an item is an order to the provider, and not a record of its work: such an item cannot be left out. */
export function isCommand(type: unknown): boolean {
  return type === 'compaction_trigger';
}

/** Tools that only a provider can run, and that this gateway lets no provider run. */
export const refusedTools = [
  'file_search',
  'code_interpreter',
  'computer',
  'computer_use',
  'computer_use_preview',
  'image_generation',
  'mcp',
  'shell',
  'apply_patch',
  'programmatic_tool_calling',
] as const;

const refused: ReadonlySet<unknown> = new Set(refusedTools);

/** A tool of the provider that is refused by its name. */
export function isRefusedTool(type: unknown): boolean {
  return refused.has(type);
}

/** A tool that the gateway runs, such as `service:datetime`, or one that it does not have. */
export function isServerTool(type: unknown): type is `${string}:${string}` {
  return typeof type === 'string' && serverToolItem.test(type);
}
