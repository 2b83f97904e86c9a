import { randomBytes } from 'node:crypto';
import { CliError, defaultOptions, loadConfig } from './config.ts';
import { openDataFolder } from './data-folder.ts';
import {
  type Checking,
  checkClock,
  checkConfig,
  checkCredentials,
  checkLive,
  checkProviders,
  checkSecret,
  checkStore,
  checkSwitches,
  type Finding,
} from './doctor-checks.ts';
import { openGateway } from './open-gateway.ts';
import type { Terminal } from './terminal.ts';
import { waitingFor } from './waiting.ts';

/** The flags for the checks. */
export interface DoctorFlags {
  config?: string;
  data?: string;
  live?: boolean;
  json?: boolean;
}

/**
 * Checks a config, its store and its providers, and says what to do.
 * @throws CliError for a config file that cannot be loaded; after the findings, where there is a problem
 */
export async function doctor(terminal: Terminal, flags: DoctorFlags): Promise<void> {
  const { env } = terminal;
  const given = flags.config === undefined ? defaultOptions(env) : await loadConfig(flags.config);
  const { secrets, sealer } = given;
  const data = given.store
    ? null
    : openDataFolder(flags.data || env.MODEL_GATEWAY_DATA || '.model-gateway', {
        needsSecret: secrets === undefined && sealer === undefined,
      });
  const options = {
    ...given,
    authenticate: given.authenticate ?? ('host' as const),
    ...(data?.store ? { store: data.store } : {}),
    ...(data?.secret ? { secrets: { current: data.secret } } : {}),
  };
  const { gateway, findings } = checkConfig(options);
  const isLive = flags.live === true;
  try {
    if (gateway !== null) {
      const checking: Checking = {
        options,
        gateway,
        another: () => openGateway(options),
        now: Date.now,
        monotonic: () => performance.now(),
        uniqueName: () => `doctor-${randomBytes(8).toString('hex')}`,
        fetch: globalThis.fetch,
      };
      findings.push(...(await waitingFor(terminal, 'Checking the store', checkStore(checking))));
      // Each of the others asks the store as well.
      if (findings.every(({ level, check }) => check !== 'store' || level !== 'problem')) {
        findings.push(...(await checkSecret(checking)));
        findings.push(...(await waitingFor(terminal, 'Checking the providers', checkProviders(checking))));
        findings.push(...(await checkSwitches(checking)));
        findings.push(...(await checkCredentials(checking)));
        findings.push(...(await checkClock(checking, isLive)));
        if (isLive) findings.push(...(await waitingFor(terminal, 'Asking the providers', checkLive(checking))));
      }
    }
  } finally {
    await gateway?.close();
    await data?.store?.disconnect();
  }
  terminal.print(flags.json ? `${JSON.stringify({ findings }, null, 2)}\n` : shown(findings, isLive));
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new CliError(problems === 1 ? 'There is 1 problem.' : `There are ${problems} problems.`);
}

function shown(findings: readonly Finding[], isLive: boolean): string {
  const lines = findings.flatMap(({ level, check, found, advice }) => [
    `${level.padEnd(8)} ${check.padEnd(10)} ${found}`,
    ...(advice === null ? [] : [`${' '.repeat(20)}${advice}`]),
  ]);
  const note = isLive ? [] : ['No provider was asked: with --live, each gets one request of a few tokens.'];
  return `${[...lines, ...note].join('\n')}\n`;
}
