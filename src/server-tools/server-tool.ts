import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import type { Issue } from '../base/refusal.ts';
import type { Call } from '../call/call.ts';
import type { PluginContext } from '../call/hooks.ts';
import { field, hostObjectIssues, throwIssues } from '../schema/host-object.ts';
import type { Schema } from '../schema/schema.ts';

/** The part of the client call that a server tool may read and change. */
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
  /** A description of the tool, for the model. */
  description: string;
  /** JSON Schema of the arguments that the model writes. */
  parameters: Record<string, unknown>;
  /**
   * The service of the operator that the tool uses, such as `web search`. A request of a workspace that uses its own
   * credentials alone cannot offer the tool. Absent: it uses none.
   */
  operatorService?: string | undefined;
  /**
   * The output item that a client of the Responses interface gets for a call, without `id` and `status`. Default: an
   * item that has only the type `service:<name>`.
   * @param result  the text that the model gets; null: the tool still runs
   */
  itemOf?(args: Record<string, unknown>, result: string | null): { type: string; [field: string]: unknown };
  /** Checks `parameters` of the tool in the request. Default: any object. */
  settings?: (() => Schema<Settings>) | undefined;
  /**
   * Runs one call.
   * @param args  as the model wrote them: any object
   * @returns the text that the model gets
   * @throws any error: the model gets the message that the call failed. A GatewayError ends the client call instead
   */
  run(args: Record<string, unknown>, context: ServerToolContext<Settings>): string | Promise<string>;
}

const shape = lazily(() => ({
  name: z.string(),
  description: z.string(),
  parameters: field.object(),
  operatorService: field.text().optional(),
  itemOf: field.fn().optional(),
  settings: field.fn().optional(),
  run: field.fn(),
}));

/** Finds the mistakes in a server tool. */
export function serverToolIssues(given: unknown): Issue[] {
  return hostObjectIssues(given, shape());
}

/**
 * Checks a server tool, and keeps its types together.
 * @throws GatewayError invalid_request (400) for a name that no tool has, or a value of the wrong type
 */
export function defineServerTool<Settings = Record<string, unknown>>(tool: ServerTool<Settings>): ServerTool {
  throwIssues('defineServerTool', serverToolIssues(tool));
  return tool as ServerTool;
}

/** The same for a tool of ours, without a check: the compiler has made it. */
export function builtInTool<Settings = Record<string, unknown>>(tool: ServerTool<Settings>): ServerTool {
  return tool as ServerTool;
}
