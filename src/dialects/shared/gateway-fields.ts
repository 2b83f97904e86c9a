/** Fields of a request that speak to the gateway, which acts on them itself. They are for no provider. */
export const gatewayFields: readonly string[] = [
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'debug',
  'trace',
  'session_id',
  'stop_server_tools_when',
  'stream',
  'stream_options',
  'include_reasoning',
  'usage',
  'transforms',
];
