import { tell } from '../../base/async/tell.ts';

/** The part of a logger that stores use. */
export interface StoreLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Writes a log line. Errors of the logger are ignored: telemetry fails open. */
export function writeLog(
  logger: StoreLogger | null | undefined,
  level: 'info' | 'warn',
  fields: object,
  message: string,
): void {
  tell(() => logger?.[level](fields, message));
}
