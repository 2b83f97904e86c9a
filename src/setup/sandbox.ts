import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import type { Model } from '../call/model.ts';
import type { LateModel } from '../catalog/late-model.ts';
import { listedName } from '../catalog/listed-as.ts';
import { openaiChat } from '../dialects/openai-chat/index.ts';
import type { Provider } from '../providers/provider.ts';
import {
  createScriptedTransport,
  type SandboxScript,
  type ScriptEntry,
  ScriptError,
  sandboxModelIds,
  sandboxScript,
  wholeSandbox,
} from '../providers/sandbox/index.ts';
import { expectation } from '../schema/chat/expectations.ts';
import type { Logger } from '../telemetry/record.ts';
import type { Transport } from '../transport/transport.ts';
import { type ProviderSettings, SettingsError } from './providers.ts';

/** Option `sandbox`. */
export const sandboxSettings = lazily(() =>
  z.strictObject({
    /**
     * The answers: a list, or what `sandboxScript` returns; see docs/sandbox.md#scripted-answers. It sets up the
     * provider `sandbox`.
     */
    script: z.custom<readonly ScriptEntry[] | SandboxScript>(
      (value) => Array.isArray(value) || isScript(value),
      expectation('expected a list of answers, or what sandboxScript returns'),
    ),
    /**
     * true: the script answers for every provider; none is asked over the network. A warning in the log says so at the
     * start.
     */
    allProviders: z.boolean().default(false),
  }),
);
type SandboxSettings = z.output<ReturnType<typeof sandboxSettings>>;

function isScript(value: unknown): value is SandboxScript {
  return typeof value === 'object' && value !== null && typeof (value as { take?: unknown }).take === 'function';
}

/** The given providers, and the sandbox if a script answers for it. */
export function withSandbox<Given extends ProviderSettings | Provider>(
  providers: Readonly<Record<string, Given>>,
  settings: SandboxSettings | undefined,
): Readonly<Record<string, Given | ProviderSettings>> {
  return settings && !settings.allProviders ? { sandbox: {}, ...providers } : providers;
}

/** The sandbox's models, which are made at their first use. */
export const sandboxModels: readonly LateModel[] = sandboxModelIds.map((id) => {
  const slug = `sandbox/${id}`;
  let made: Model | undefined;
  return {
    slug,
    names: [listedName({ providerSlug: 'sandbox', upstreamModel: id })],
    providers: ['sandbox'],
    load: () =>
      made
        ? undefined
        : (async () => {
            made = (await wholeSandbox()).sandboxModels.find((model) => model.slug === slug);
          })(),
    make: () => made as Model,
  };
});

/** The built-in providers. A script gets the complete request, so a scripted sandbox ignores no field. */
export function asScripted(builtIn: readonly Provider[], settings: SandboxSettings | undefined): readonly Provider[] {
  if (!settings) return builtIn;
  return builtIn.map((provider) => (provider.slug === 'sandbox' ? { ...provider, dialect: openaiChat } : provider));
}

/**
 * Makes the transports of the providers for which a script answers; null: none.
 * @throws SettingsError for a mistake in a script
 */
export function scriptedTransports(
  settings: SandboxSettings | undefined,
  clock: Clock,
  logger: Logger | undefined,
): ((provider: Provider) => Transport | null) | null {
  if (!settings) return null;
  const { allProviders } = settings;
  const script = scriptOf(settings.script);
  // A warning: if it is left on by mistake, the gateway looks like a service that works.
  if (allProviders) logger?.warn({}, 'A sandbox script answers for all providers: none of them is asked');
  const transports = new Map<string, Transport>();
  return ({ slug, dialect }) => {
    if (!allProviders && slug !== 'sandbox') return null;
    const found = transports.get(slug);
    if (found) return found;
    // A script speaks this format alone; a provider of another dialect would see its answers as broken.
    const speaks = dialect === openaiChat;
    const made = createScriptedTransport({ clock, script, provider: slug, speaks });
    transports.set(slug, made);
    return made;
  };
}

function scriptOf(script: SandboxSettings['script']): SandboxScript {
  if (isScript(script)) return script;
  try {
    return sandboxScript(script);
  } catch (error) {
    const issue = error instanceof ScriptError ? error.issues[0] : undefined;
    if (!issue) throw error;
    throw new SettingsError(`sandbox.script${issue.path}`, issue.message);
  }
}
