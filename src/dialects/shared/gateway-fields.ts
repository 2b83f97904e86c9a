/** Fields of a request by which the caller speaks to the gateway, which acts on them. No provider gets them. */
export const gatewayFields: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'debug',
  'trace',
  'session_id',
  'stream',
  'include_reasoning',
  'usage',
]);

/** Fields that speak to the gateway as well, and that nothing in it acts on: they are listed as left out. */
const unheeded: ReadonlySet<string> = new Set(['stop_server_tools_when', 'transforms']);

/** Whether a field speaks to the gateway. Lists it where it has no effect. */
export function isGatewayField(name: string, value: unknown, dropped: string[]): boolean {
  if (gatewayFields.has(name)) return true;
  if (!unheeded.has(name)) return false;
  // `transforms: []` asks for nothing.
  if (!Array.isArray(value) || value.length > 0) dropped.push(name);
  return true;
}
