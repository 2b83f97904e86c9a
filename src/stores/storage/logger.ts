/** Of a logger, what stores use. */
export interface StoreLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What the logger throws is swallowed: telemetry fails open. */
export function writeLog(
  logger: StoreLogger | null | undefined,
  level: 'info' | 'warn',
  fields: object,
  message: string,
): void {
  try {
    logger?.[level](fields, message);
  } catch {
    // There is nobody left to tell.
  }
}
