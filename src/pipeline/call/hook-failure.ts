export type HookName = 'before' | 'prepare' | 'wrap' | 'foresee' | 'steps';

/** Learns that a plugin was left out, and why. The client learns only that it was. */
export type ReportPluginFailure = (plugin: string, hook: HookName, error: unknown) => void;
