import type { WorkspaceSettings } from '../schema/workspace.ts';
import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';
import type { Recorder } from './follow.ts';

/** Switches of workspaces that need a part of the gateway. */
export type PartSwitch = 'is_observability_io_logging_enabled' | 'is_observability_broadcast_enabled';

/** The options that the parts come of. */
export interface SwitchSettings {
  /** Whether prompts and responses can be kept. */
  records?: { enabled?: boolean | undefined } | undefined;
  /** Who can tell a workspace of its requests. */
  onRecord?: Recorder | undefined;
}

/** Tells who operates the gateway of switches that a workspace turns on without any effect. */
export type NotesSwitches = (workspaceId: string, turned: Partial<Pick<WorkspaceSettings, PartSwitch>>) => void;

/** Tells the logger, once for each time that a switch is turned on. */
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

/** @returns switches that have no effect with these options, each with what it needs, such as `it needs records.enabled` */
export function idleSwitches({ records, onRecord }: SwitchSettings): ReadonlyMap<PartSwitch, string> {
  const idle = new Map<PartSwitch, string>();
  if (records?.enabled !== true) idle.set('is_observability_io_logging_enabled', 'it needs records.enabled');
  // A function of the host app may do what it likes.
  if (onRecord === undefined || onRecord.broadcasts === false)
    idle.set('is_observability_broadcast_enabled', 'it needs the option broadcast of openTelemetry');
  return idle;
}
