import type { Mapping } from '../mapping.ts';
import type { Pattern } from '../produced.ts';
import type { Report } from '../report.ts';
import { callbacksOf } from './settings.ts';

/** The parts of the new config that the callbacks of the file become. */
export interface Callbacks {
  /** true: spans and metrics of OpenTelemetry are made. */
  isTraced: boolean;
  /** Patterns that every request is looked at for. */
  patterns: readonly Pattern[];
}

/** Receivers of OpenTelemetry. */
const receivers = new Set([
  'arize',
  'arize_phoenix',
  'braintrust',
  'datadog',
  'langfuse',
  'langfuse_otel',
  'langsmith',
  'langtrace',
  'logfire',
  'opik',
  'otel',
  'prometheus',
  'traceloop',
  'weave_otel',
]);

const setUp = 'Set up an SDK of OpenTelemetry with its exporter in the process: docs/telemetry.md.';

export function importCallbacks(settings: Mapping, report: Report): Callbacks {
  let isTraced = false;
  const patterns: Pattern[] = [];
  for (const { path, name } of callbacksOf(settings)) {
    if (receivers.has(name)) {
      isTraced = true;
      const advice = name === 'prometheus' ? 'Add its exporter: docs/telemetry.md#prometheus.' : setUp;
      report.warning(path, `${name} gets what openTelemetry(api) makes, once an exporter sends it there`, advice);
    } else if (name === 'detect_prompt_injection') {
      patterns.push({ builtin: 'prompt-injection', action: 'block', on: 'input' });
      report.note(path, 'detect_prompt_injection is the built-in pattern prompt-injection of a guardrail');
    } else if (name === 'dynamic_rate_limiter' || name === 'dynamic_rate_limiter_v3')
      report.warning(path, `${name} has no counterpart`, 'rateLimits limits keys and workspaces.');
    else {
      // A callback of the user's own is the path of a program.
      const shown = /^[a-z0-9_-]{1,40}$/i.test(name) ? `${name} is not told of requests` : 'is not told of requests';
      report.warning(path, shown, 'Write the option onRecord: docs/record-fields.md#fields-of-records.');
    }
  }
  return { isTraced, patterns };
}
