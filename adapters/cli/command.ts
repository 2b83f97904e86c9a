import { type ChatFlags, chat } from './chat-command.ts';
import { commandHelp, helpText } from './command-line/help.ts';
import { type Asked, readArgs } from './command-line/read-args.ts';
import { CliError, UsageError } from './config.ts';
import { type DoctorFlags, doctor } from './doctor-command.ts';
import { type ImportFlags, importConfig } from './import-command.ts';
import { init } from './init-command.ts';
import { type BudgetsFlags, budgets } from './manage/budgets.ts';
import { type ExplainFlags, explain } from './manage/explain.ts';
import { type KeysFlags, keys } from './manage/keys.ts';
import { type ModelsFlags, models } from './manage/models.ts';
import { type UsageFlags, usage } from './manage/usage.ts';
import { type ServeFlags, serveUntilStopped } from './serve-command.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/**
 * Runs the command line until the command has ended, as `serve` does when the server has stopped. A mistake is reported
 * as one line on the error output.
 * @returns the exit code: 0 done, 1 failed, 2 the command line is wrong
 */
export async function runCommand(terminal: Terminal): Promise<number> {
  try {
    const asked = readArgs(terminal.args);
    if (asked.kind === 'version') terminal.print(`${version()}\n`);
    else if (asked.kind === 'help') terminal.print(asked.about === null ? helpText() : commandHelp(asked.about));
    else await runNamed(terminal, asked);
    return 0;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    terminal.printError(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

interface Flags
  extends ChatFlags,
    ServeFlags,
    ImportFlags,
    DoctorFlags,
    ModelsFlags,
    ExplainFlags,
    KeysFlags,
    BudgetsFlags,
    UsageFlags {}

async function runNamed(terminal: Terminal, { name, args, flags: read }: Asked & { kind: 'run' }): Promise<void> {
  const flags: Flags = read;
  switch (name) {
    case 'serve':
      return serveUntilStopped(terminal, flags);
    case 'chat':
      return chat(terminal, args[0], flags);
    case 'init':
      return init(terminal);
    case 'import':
      return importConfig(terminal, args[0], flags);
    case 'doctor':
      return doctor(terminal, flags);
    case 'models':
      return models(terminal, args[0], flags);
    case 'explain':
      return explain(terminal, args[0], flags);
    case 'keys':
      return keys(terminal, args, flags);
    case 'budgets':
      return budgets(terminal, args, flags);
    case 'usage':
      return usage(terminal, flags);
  }
}
