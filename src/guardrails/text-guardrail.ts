import * as z from 'zod';
import { andThen } from '../base/async/and-then.ts';
import { loadedOnce } from '../base/async/loaded-once.ts';
import { lazily } from '../base/lazily.ts';
import { refusal } from '../base/refusal.ts';
import type { Caller } from '../call/call.ts';
import type { PluginContext } from '../call/hooks.ts';
import { checkedSettings, field } from '../schema/host-object.ts';
import type { Guardrail } from './guardrail.ts';
import { patternFaults, patternLimits, type TextPattern } from './text/pattern.ts';
import type { Screening } from './text/screening.ts';

/** The options of `textGuardrail`. */
export interface TextGuardrailOptions {
  /** Shown as `guardrail_id`; unique. */
  id: string;
  /** Shown as the name of its stages. Default: the id. */
  name?: string | undefined;
  /** Shown as `guardrail_scope`, such as `workspace`. Default `gateway`. */
  scope?: string | undefined;
  /** The patterns to search for. */
  patterns: readonly TextPattern[];
  /** Tells whether the guardrail acts on a call. Default: on every call. */
  appliesTo?(caller: Caller): boolean;
  /** The most characters of a request that are checked; more are refused (400). Default 2,000,000. */
  maxChars?: number | undefined;
  /**
   * The most steps of one expression: its compiled instructions times the characters of one window, which are
   * `maxLength` and a quarter. A guardrail with a larger expression blocks everything. Default 150,000.
   */
  maxSteps?: number | undefined;
  /**
   * The most milliseconds of work of all such guardrails on one call, without pauses. A request or a response that
   * takes more is blocked. Default 5,000.
   */
  maxWorkMs?: number | undefined;
}

/** The default limits. */
export const textGuardrailDefaults = {
  scope: 'gateway',
  maxChars: 2_000_000,
  maxSteps: patternLimits.steps,
  maxWorkMs: 5_000,
} as const;

const shape = lazily(() => ({
  id: field.id(),
  name: field.text().optional(),
  scope: field.text().optional(),
  patterns: z.array(z.unknown()),
  appliesTo: field.fn().optional(),
  maxChars: field.count(1).optional(),
  maxSteps: field.count(1).optional(),
  maxWorkMs: field.count(1).optional(),
}));

type ScreeningModule = typeof import('./text/screening.ts');

/** The code that searches texts: most gateways have no such guardrail. */
const screeningModule = loadedOnce<ScreeningModule>(() => import('./text/screening.ts'));

/** Loads now what guardrails search texts with. Rejects where the package is not whole. */
export async function loadScreening(): Promise<void> {
  await screeningModule();
}

/**
 * Makes a guardrail that blocks, redacts or flags patterns in requests and responses, also in streams.
 * @throws GatewayError invalid_request (400) naming every invalid pattern. A fault that only the engine of regular
 *         expressions finds shows at the first request, which fails like all that follow
 * @see docs/guardrails.md
 */
export function textGuardrail(options: TextGuardrailOptions): Guardrail {
  const given = checkedSettings('textGuardrail', options, shape);
  const { id, patterns, appliesTo } = options;
  const { maxChars, maxSteps, maxWorkMs } = { ...textGuardrailDefaults, ...given };
  const issues = patternFaults(patterns, 'patterns');
  if (issues.length > 0) throw refusal('invalid_request', issues);
  const { name = id, scope = textGuardrailDefaults.scope } = options;
  /** The hooks; null: they are not loaded yet. */
  let hooks: Screening | null = null;
  const made = ({ screening }: ScreeningModule): Screening => {
    hooks ??= screening({ guardrail, patterns, maxChars, maxSteps, maxWorkMs });
    return hooks;
  };
  const loaded = (): Screening | Promise<Screening> => hooks ?? andThen(screeningModule(), made);
  const guardrail: Guardrail & { name: string; scope: string } = {
    id,
    name,
    scope,
    ...(appliesTo ? { appliesTo: (caller: Caller) => appliesTo(caller) } : {}),
    async before(request, context) {
      const ready = loaded();
      return (ready instanceof Promise ? await ready : ready).before(request, context);
    },
    /** Checks the texts that plugins and server tools have added since. */
    prepare: (request, target, context) => (hooks === null ? request : hooks.prepare(request, target, context)),
    steps(context) {
      if (hooks === null) throw new Error(`The guardrail ${id} is not ready`);
      return hooks.steps(context);
    },
    ...(patterns.some(({ restore }) => restore === true) && {
      restore: (context: PluginContext) => hooks?.restore(context) ?? [],
    }),
    // An error shows at the first request.
    load: async () => (await loaded()).load(),
    withholds: (words) => hooks?.withholds(words) ?? false,
    preview: async (request, context) => (await loaded()).preview(request, context),
  };
  return guardrail;
}
