import type { WorkspaceSettings } from '../schema/workspace.ts';
import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';
import type { Recorder } from './follow.ts';

/** Switches of workspaces that need a part of the gateway. */
type PartSwitch = 'is_observability_io_logging_enabled' | 'is_observability_broadcast_enabled';

/** The options that the parts come of. */
export interface SwitchSettings {
  records: { readonly enabled: boolean };
  onRecord?: Recorder | undefined;
  logger?: StoreLogger | undefined;
}

/** Tells who operates the gateway of switches that a workspace turns on without any effect. */
export type NotesSwitches = (workspaceId: string, turned: Partial<Pick<WorkspaceSettings, PartSwitch>>) => void;

/** Tells the logger, once for each time that a switch is turned on. */
export function switchNotes({ logger, ...settings }: SwitchSettings): NotesSwitches {
  const idle = idleSwitches(settings);
  return (workspaceId, turned) => {
    for (const [name, needs] of idle)
      if (turned[name] === true) writeLog(logger, 'warn', { workspaceId }, `${name} has no effect here: ${needs}`);
  };
}

/** Switches that have no effect here, each with what the operator would have to do. */
function idleSwitches({ records, onRecord }: SwitchSettings): ReadonlyMap<PartSwitch, string> {
  const idle = new Map<PartSwitch, string>();
  if (!records.enabled)
    idle.set('is_observability_io_logging_enabled', 'prompts and responses are kept where records.enabled is true');
  // A function of the host app may do what it likes.
  if (onRecord === undefined || onRecord.broadcasts === false)
    idle.set('is_observability_broadcast_enabled', 'spans are sent where openTelemetry is given broadcast');
  return idle;
}
