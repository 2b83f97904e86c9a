import type { WorkspaceSettings } from '../schema/tenants/workspace.ts';
import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';
import type { Recorder } from './follow.ts';

/** Switches of workspaces that need a part of the gateway. */
export type PartSwitch = 'is_observability_io_logging_enabled' | 'is_observability_broadcast_enabled';

/** The options that decide which switches have an effect. */
export interface SwitchSettings {
  /** `enabled`: prompts and responses can be kept. */
  records?: { enabled?: boolean | undefined } | undefined;
  /** The recorder, which may tell a workspace of its requests. */
  onRecord?: Recorder | undefined;
}

/** Tells the operator about switches that a workspace turns on without any effect. */
export type NotesSwitches = (workspaceId: string, turned: Partial<Pick<WorkspaceSettings, PartSwitch>>) => void;

/** Writes a log line each time that a switch without effect is turned on. */
export function switchNotes({
  logger,
  ...settings
}: SwitchSettings & { logger?: StoreLogger | undefined }): NotesSwitches {
  const idle = idleSwitches(settings);
  return (workspaceId, turned) => {
    for (const [name, needs] of idle)
      if (turned[name] === true) writeLog(logger, 'warn', { workspaceId }, `${name} has no effect here: ${needs}`);
  };
}

/**
 * @returns the switches that have no effect with these options, each with the reason, such as `it needs
 * records.enabled`
 */
export function idleSwitches({ records, onRecord }: SwitchSettings): ReadonlyMap<PartSwitch, string> {
  const idle = new Map<PartSwitch, string>();
  if (records?.enabled !== true) idle.set('is_observability_io_logging_enabled', 'it needs records.enabled');
  // The recorder of a host app may tell workspaces: that is not known.
  if (onRecord === undefined || onRecord.broadcasts === false)
    idle.set('is_observability_broadcast_enabled', 'it needs the option broadcast of openTelemetry');
  return idle;
}
