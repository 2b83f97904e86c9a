import { type Advice, adviceIn } from '../advice.ts';
import { isMapping, type Mapping, mappingOf, memberOf } from '../mapping.ts';
import type { Report } from '../report.ts';

/** Sections that other modules read. */
const sections = new Set(['gateway', 'models', 'functions', 'embedding_models', 'provider_types', 'rate_limiting']);

const others: Readonly<Record<string, Advice>> = {
  metrics: ['problem', 'takes no feedback', 'Keep feedback in your app: the id of a response names its record.'],
  tools: [
    'warning',
    'is not added to requests',
    'Let clients send tools, or write server tools: docs/server-tools.md.',
  ],
  evaluations: ['warning', 'runs nothing here'],
  optimizers: ['warning', 'runs nothing here'],
  object_storage: ['warning', 'keeps no files: records hold prompts and responses as text'],
  clickhouse: ['warning', 'keeps nothing', 'records.enabled keeps records in the store: docs/records.md.'],
  postgres: ['warning', 'is not the store of this config', 'Set the option store: docs/storage.md.'],
  autopilot: ['warning', 'runs nothing here'],
};

const gatewayRead = new Set([
  'auth',
  'base_path',
  'bind_address',
  'export',
  'global_outbound_http_timeout_ms',
  'observability',
]);
const gatewayNotes: Readonly<Record<string, Advice>> = {
  cache: ['warning', 'keeps nothing: responses are not cached'],
  debug: ['note', 'is not kept: logs hold no prompts'],
  disable_pseudonymous_usage_analytics: ['note', 'is not needed: nothing is sent to us'],
  fetch_and_encode_input_files_before_inference: ['warning', 'fetches no files: a provider gets their addresses'],
  metrics: ['note', 'is not kept: docs/telemetry.md lists the metrics'],
  relay: ['problem', 'sends nothing on to another gateway', 'Add that gateway as a provider with its baseUrl.'],
  template_filesystem_access: ['note', 'is not needed: clients send their prompts'],
};

/** Reports every section and setting that no other module reads. */
export function reportSettings(file: Mapping, report: Report): void {
  for (const name of Object.keys(file)) {
    if (sections.has(name)) continue;
    const [level, what, advice] = adviceIn(others, name);
    report.add(level, name, what, advice);
  }
  for (const name of Object.keys(mappingOf(file, 'gateway'))) {
    if (gatewayRead.has(name)) continue;
    const [level, what, advice] = adviceIn(gatewayNotes, name);
    report.add(level, `gateway.${name}`, what, advice);
  }
  for (const [name, model] of Object.entries(mappingOf(file, 'models')))
    if (isMapping(model))
      for (const member of Object.keys(model))
        if (!['routing', 'providers', 'timeouts'].includes(member))
          report.warning(`models.${name}.${member}`, 'has no counterpart here');
  if (memberOf(file, 'functions') !== undefined || memberOf(file, 'metrics') !== undefined)
    report.warning(
      '/inference',
      'and /feedback are not served: clients use chat completions at /openai/v1',
      'Clients that use the OpenAI SDK keep their address and their names of models.',
    );
}
