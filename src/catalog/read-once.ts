import { type StoreLogger, writeLog } from '../stores/storage/logger.ts';

/** Reads a value at its first use. If the value cannot be read, the catalog works without it. */
export function readOnce<T>(
  load: (() => Promise<T>) | null,
  without: T,
  what: string,
  logger: StoreLogger | null | undefined,
): { readonly isRead: boolean; readonly value: T; read(): Promise<void> } {
  let value = without;
  let isRead = load === null;
  let reading: Promise<void> | null = null;
  return {
    get isRead() {
      return isRead;
    },
    get value() {
      return value;
    },
    read() {
      if (isRead || load === null) return Promise.resolve();
      reading ??= load()
        .then(
          (read) => {
            value = read;
          },
          (error: unknown) =>
            writeLog(logger, 'warn', { err: error }, `the built-in ${what} cannot be read and are not used`),
        )
        .then(() => {
          isRead = true;
        });
      return reading;
    },
  };
}
