import { createGateway, type Gateway, type GatewayOptions, OptionsError } from '../../src/index.ts';
import { CliError } from './config.ts';

/** @throws CliError for a mistake in the options: one line, like every mistake at the terminal */
export function openGateway(options: GatewayOptions): Gateway {
  try {
    return createGateway(options);
  } catch (error) {
    if (error instanceof OptionsError) throw new CliError(error.message);
    throw error;
  }
}
