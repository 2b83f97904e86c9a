import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import type { Issue } from '../base/refusal.ts';
import type { Caller } from '../call/call.ts';
import { type HookMode, hookModes, hookShape, idleMode } from '../call/hook-shape.ts';
import type { PluginHooks } from '../call/hooks.ts';
import type { Shortener } from '../call/shortener.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import { type RoutingStrategy, routingStrategies } from '../schema/chat/envelope.ts';
import { field, hostObjectIssues, throwIssues } from '../schema/host-object.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * An addition to a call that a request asks for by its id: one of the ids of the interface, or one of the host app's
 * own.
 */
export interface Plugin<Options = unknown> extends PluginHooks<Options> {
  /** The name that requests use; unique. */
  id: string;
  /** Checks the entry of `plugins` in the request. Default: any object. */
  options?: (() => Schema<Options>) | undefined;
  /**
   * true: the plugin acts on every request that does not switch it off with `enabled: false`. Default: on those that
   * name it.
   */
  isDefault?: boolean | undefined;
  /**
   * Tells whether the plugin acts on a request that does not name it, such as one for a certain model. Called once for
   * each client call, before any hook; it returns at once, and an error that it throws ends the call. No plugin acts on
   * a request that switches it off. Default: `isDefault` decides.
   */
  actsOn?(request: ChatRequest, asked: ActsOnContext): boolean;
  /**
   * The strategy of a plugin that chooses the models by itself: `strategy` in the metadata and the explanation of
   * requests for which `actsOn` returns true. `requested` then is the model of the request as it came.
   */
  strategy?: RoutingStrategy | undefined;
  /**
   * The suffix of model slugs that asks for the plugin: `online` for `author/model:online`. A plugin of the host app
   * may take that of a built-in one.
   */
  variant?: string | undefined;
  /**
   * The effect on the call when a hook throws an error that is no GatewayError, or takes longer than
   * `timeouts.pluginMs`. `fail`: the call fails, with 500 or 504. `skip`: the call goes on as if the hook were not
   * there, where that is possible. Default `fail`.
   */
  onError?: 'fail' | 'skip' | undefined;
  /**
   * The time at which `before` runs. `before`: the model is asked after it. `parallel`: the model is asked at the same
   * time, and the response waits for it. A `before` that changes the request then fails the call. Default `before`.
   */
  mode?: HookMode | undefined;
  /** true: content that the plugin could not check must not pass. `onError: 'skip'` is then refused. */
  failsClosed?: boolean | undefined;
  /** Makes prompts fit the context of an endpoint. If several plugins have one, the first is asked. */
  shortener?: Shortener | undefined;
}

/** The facts that `actsOn` gets beside the request. */
export interface ActsOnContext {
  /** The party that makes the request. */
  readonly caller: Caller;
  /** The author of the gateway's own models, beside `service`, such as `acme` in `acme/fusion`. */
  readonly brand: string;
}

const shape = lazily(() => ({
  ...hookShape(),
  id: field.id(),
  options: field.fn().optional(),
  isDefault: field.flag().optional(),
  actsOn: field.fn().optional(),
  strategy: z.enum(routingStrategies).optional(),
  variant: field.text().optional(),
  onError: z.enum(['fail', 'skip']).optional(),
  mode: z.enum(hookModes).optional(),
  failsClosed: field.flag().optional(),
  shortener: field.object().optional(),
}));

/** Finds the mistakes in a plugin. */
export function pluginIssues(given: unknown): Issue[] {
  const issues = hostObjectIssues(given, shape());
  if (issues.length > 0) return issues;
  const idle = idleMode(given as Plugin);
  if (idle.length > 0) return idle;
  const { onError, failsClosed } = given as Plugin;
  if (onError === 'skip' && failsClosed === true)
    return [{ path: 'onError', message: 'expected "fail": what could not be checked must not pass' }];
  return [];
}

/**
 * Checks a plugin, and keeps the types of its options together.
 * @throws GatewayError invalid_request (400) for a name that no plugin has, or a value of the wrong type
 */
export function definePlugin<Options = Record<string, unknown>>(plugin: Plugin<Options>): Plugin {
  throwIssues('definePlugin', pluginIssues(plugin));
  return plugin as Plugin;
}

/** The same for a plugin of ours, without a check: the compiler has made it. */
export function builtInPlugin<Options = Record<string, unknown>>(plugin: Plugin<Options>): Plugin {
  return plugin as Plugin;
}
