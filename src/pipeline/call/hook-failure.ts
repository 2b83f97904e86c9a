export type HookName = 'before' | 'prepare' | 'wrap' | 'foresee' | 'steps';

/** Is told that a plugin was left out, and why; the client is told that it was. */
export type ReportPluginFailure = (plugin: string, hook: HookName, error: unknown) => void;
