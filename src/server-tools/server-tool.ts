import type { Clock } from '../base/clock.ts';
import type { Call } from '../call/call.ts';
import type { PluginContext } from '../call/hooks.ts';
import type { Schema } from '../schema/schema.ts';

/** What a server tool knows of the client call, and what it may add to it. */
export interface ServerToolContext<Settings = unknown>
  extends Pick<PluginContext, 'addAnnotations' | 'fetchUrl' | 'hold' | 'search'> {
  /** `parameters` of the tool in the request, checked by `settings`; `{}` where the request has none. */
  readonly settings: Settings;
  /** The client call. */
  readonly call: Call;
  /** The time. */
  readonly clock: Clock;
  /** Aborted when the client leaves, and when the tool has had its time. */
  readonly signal: AbortSignal;
}

/** A tool that the gateway runs when the model calls it. A request offers it by the type `service:<name>`. */
export interface ServerTool<Settings = unknown> {
  /** Letters, digits, `_` and `-`; unique. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** JSON Schema of the arguments that the model writes. */
  parameters: Record<string, unknown>;
  /** Checks `parameters` of the tool in the request. Default: any object. */
  settings?: () => Schema<Settings>;
  /**
   * Runs one call.
   * @param args  as the model wrote them: any object
   * @returns the text that the model gets
   * @throws any error: the model is told that the call failed. A GatewayError ends the client call as it is
   */
  run(args: Record<string, unknown>, context: ServerToolContext<Settings>): string | Promise<string>;
}

/** Keeps the types of a server tool together. */
export function defineServerTool<Settings = Record<string, unknown>>(tool: ServerTool<Settings>): ServerTool {
  return tool as ServerTool;
}
