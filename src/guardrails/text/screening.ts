import { andThen } from '../../base/async/and-then.ts';
import type { StopSignal } from '../../base/async/stop.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Call } from '../../call/call.ts';
import type { PluginContext } from '../../call/hooks.ts';
import type { Native } from '../../call/native.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import { blockedBy, type Guardrail, notEvaluatedBy } from '../guardrail.ts';
import { type Direction, Findings } from './findings.ts';
import { atOnce, Pace, TooMuchWork, type Work, within } from './pace.ts';
import { type TextPattern, WrongPattern } from './pattern.ts';
import { type CompiledPatterns, compilePatterns, type SplitPatterns } from './patterns.ts';
import { RequestTexts } from './request.ts';
import { responseStep } from './response.ts';
import { RestoredFindings, TakenTexts } from './restoring.ts';
import { Texts } from './texts.ts';

/** The hooks of a text guardrail. All but `before`, `load` and `preview` need a call of `before`, and do nothing without it. */
export type Screening = Required<
  Pick<Guardrail, 'before' | 'prepare' | 'steps' | 'restore' | 'load' | 'withholds' | 'preview'>
>;

/** The checked options of a text guardrail. */
export interface ScreeningOptions {
  /** The guardrail, as stages and refusals name it. */
  guardrail: Guardrail & { name: string; scope: string };
  patterns: readonly TextPattern[];
  maxChars: number;
  maxSteps: number;
  maxWorkMs: number;
}

/** Makes the hooks that block, redact or flag patterns. */
export function screening({ guardrail, patterns, maxChars, maxSteps, maxWorkMs }: ScreeningOptions): Screening {
  const { id, name, scope } = guardrail;
  let compiling: CompiledPatterns | Promise<CompiledPatterns> | null = null;
  let compiled: CompiledPatterns | null = null;
  /** The clock of the calls. */
  let clock: Clock | null = null;
  const compile = () => {
    compiling ??= compilePatterns(patterns, maxSteps);
    return andThen(compiling, (made) => {
      compiled = made;
      return made;
    });
  };
  /** By call: the texts that were checked before, and those that were taken out. */
  const screened = new WeakMap<Call, { seen: RequestTexts; taken: TakenTexts }>();
  const restores = patterns.some(({ restore }) => restore === true);

  function stagesOf(findings: Findings): PipelineStage[] {
    return findings.stages(id, name, scope);
  }

  const limit = {
    chars: maxChars,
    tooLong: () =>
      new GatewayError('invalid_request', `The request has more than ${maxChars} characters, which are not checked`),
  };

  /** Does work in slices. @throws GatewayError guardrail_blocked (403) if it is too much */
  function done<T>(work: Work<T>, pace: Pace, context: Stages, direction: Direction): T | Promise<T> {
    const failed = (error: unknown): never => {
      if (!(error instanceof TooMuchWork)) throw error;
      throw notEvaluatedBy(guardrail, `the patterns took more than ${maxWorkMs} ms`, context, direction);
    };
    try {
      const made = pace.run(work, maxWorkMs, context.signal);
      return made instanceof Promise ? made.catch(failed) : made;
    } catch (error) {
      return failed(error);
    }
  }

  /** Checks a request, and returns it redacted. @throws GatewayError as `done`; invalid_request (400): it is too long */
  function screen(
    request: ChatRequest,
    native: Native | null,
    input: SplitPatterns,
    { seen, taken }: { seen: RequestTexts; taken: TakenTexts },
    pace: Pace,
    context: Stages,
  ) {
    const findings = new Findings('input');
    const texts = new Texts(restores ? taken.taking(input) : input, findings, pace, limit);
    return andThen(done(seen.screen(request, native, texts), pace, context, 'input'), (left) => {
      for (const stage of stagesOf(findings)) context.addStage(stage);
      if (findings.blocked.length > 0) throw blockedBy(guardrail, findings.blocked, context, 'input', findings.places);
      return left;
    });
  }

  /**
   * Compiles the patterns. @throws GatewayError guardrail_blocked (403); internal (500): a guardrail that cannot check
   * a text blocks it
   */
  async function ready(context: Stages): Promise<CompiledPatterns> {
    try {
      return await compile();
    } catch (error) {
      if (!(error instanceof WrongPattern)) throw internal(error);
      const { index, message, isTooLarge } = error;
      if (!isTooLarge) throw internal(new Error(`patterns[${index}].regex: ${message}`));
      throw notEvaluatedBy(guardrail, `${patterns[index]?.name}: ${message}`, context, 'input');
    }
  }

  return {
    async before(request, context) {
      clock = context.clock;
      const { input } = await ready(context);
      if (input.acting.length === 0 && input.flagging.length === 0) return request;
      const known = { seen: new RequestTexts(), taken: new TakenTexts() };
      const left = await screen(request, context.native, input, known, paceOf(context), context);
      screened.set(context.call, known);
      return left;
    },
    /** Checks the texts that plugins and server tools have added since. */
    prepare(request, _target, context) {
      const known = screened.get(context.call);
      if (known === undefined || compiled === null) return request;
      return screen(request, context.native, compiled.input, known, paceOf(context), context);
    },
    steps(context) {
      if (compiled === null) throw new Error(`The guardrail ${id} is not ready`);
      const patterns = compiled.output;
      if (patterns.acting.length === 0 && patterns.flagging.length === 0) return [];
      const findings = new Findings('output');
      const { request, native } = context.call.ask;
      const pace = paceOf(context);
      return [
        responseStep({
          patterns,
          findings,
          hasItems: native?.format === 'responses' || native?.format === 'messages',
          expectsJson: request.response_format !== undefined && request.response_format?.type !== 'text',
          pausing: pace,
          run: (work) => done(work, pace, context, 'output'),
          blocked: (names) => blockedBy(guardrail, names, context, 'output', findings.places),
          ended: () => {
            for (const stage of stagesOf(findings)) context.addStage(stage);
          },
        }),
      ];
    },
    restore(context: PluginContext) {
      const taken = screened.get(context.call)?.taken;
      if (taken === undefined || taken.isEmpty) return [];
      const { request, native } = context.call.ask;
      const pace = paceOf(context);
      return [
        responseStep({
          patterns: taken.restoring(),
          findings: new RestoredFindings('output'),
          hasItems: native?.format === 'responses' || native?.format === 'messages',
          expectsJson: request.response_format !== undefined && request.response_format?.type !== 'text',
          skipsThoughts: true,
          pausing: pace,
          run: (work) => done(work, pace, context, 'output'),
          blocked: () => new Error('A placeholder blocks nothing'),
          ended: () => undefined,
        }),
      ];
    },
    load: async () => void (await compile()),
    withholds(words) {
      const acting = compiled?.output.acting ?? [];
      if (acting.length === 0 || clock === null) return false;
      const findings = new Findings('output');
      try {
        const texts = new Texts({ acting, flagging: [] }, findings, within(withholdsMs, clock));
        return atOnce(texts.value(words, '', 'free')) !== words || findings.blocked.length > 0;
      } catch (error) {
        if (error instanceof TooMuchWork) return true;
        throw error;
      }
    },
    async preview(request, { clock, call, native }) {
      const stages: PipelineStage[] = [];
      const context = { addStage: (stage: PipelineStage) => void stages.push(stage), signal: call.signal };
      try {
        const { input } = await ready(context);
        const known = { seen: new RequestTexts(), taken: new TakenTexts() };
        const left = await screen(request, native, input, known, newPace(clock, call), context);
        return { ...left, stages, refusal: null };
      } catch (error) {
        if (!isGatewayError(error) || error.kind !== 'guardrail_blocked') throw error;
        return { request, native, stages, refusal: error };
      }
    },
  };
}

/**
 * The most milliseconds for a provider's words, which are checked without a pause. Words that take longer are left out.
 */
const withholdsMs = 20;

type Stages = Pick<PluginContext, 'addStage'> & { readonly signal: StopSignal };

/** By call: the pace that all guardrails of the call share. */
const paces = new WeakMap<Call, Pace>();

function paceOf({ call, clock }: Pick<PluginContext, 'call' | 'clock'>): Pace {
  let pace = paces.get(call);
  if (pace === undefined) {
    pace = newPace(clock, call);
    paces.set(call, pace);
  }
  return pace;
}

function newPace(clock: Clock, { caller }: Call): Pace {
  return new Pace({ clock, group: caller.workspaceId });
}

function internal(error: unknown): unknown {
  if (isGatewayError(error)) return error;
  return new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
}
