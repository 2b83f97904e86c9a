import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { BudgetEvent, BudgetEventSettings } from '../schema/settings/budget-events.ts';
import { createEventMarks, type EventMarks } from '../stores/budget-events/marks.ts';
import { type BudgetWatch, createBudgetWatch } from '../stores/budget-events/watch.ts';
import { createWebhook } from '../stores/budget-events/webhook.ts';
import type { Ledger } from '../stores/ledger/ledger.ts';
import type { Storage } from '../stores/storage/storage.ts';
import type { Logger } from '../telemetry/record.ts';
import { recordTo } from '../telemetry/record.ts';

export interface BudgetEventDeps {
  settings: BudgetEventSettings;
  storage: Storage;
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  logger: Logger | null;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The events of budgets, and their receivers. */
export interface BudgetEvents {
  /** null: there is no receiver. */
  watch: BudgetWatch | null;
  marks: EventMarks;
  close(): Promise<void>;
}

export function openBudgetEvents(deps: BudgetEventDeps): BudgetEvents {
  const { settings, storage, ledger, clock, ids, logger } = deps;
  const { onEvent, thresholds } = settings;
  const marks = createEventMarks(storage);
  const webhook =
    settings.webhook === undefined
      ? null
      : createWebhook({
          settings: settings.webhook,
          clock,
          logger,
          fetch: deps.fetch ?? ((input, init) => globalThis.fetch(input, init)),
        });
  const sinks = [onEvent, webhook?.send].filter((sink) => sink !== undefined);
  if (sinks.length === 0) return { watch: null, marks, close: async () => undefined };
  const emit: (event: BudgetEvent) => void = recordTo(sinks);
  const ascending = [...new Set(thresholds)].sort((a, b) => a - b);
  const watch = createBudgetWatch({ ledger, marks, clock, ids, logger, thresholds: ascending, emit });
  return {
    watch,
    marks,
    async close() {
      await watch.close();
      await webhook?.close();
    },
  };
}
