import process from 'node:process';
import { loadBuiltSqlite } from './built.ts';
import { gatewayOptions } from './gateway-options.ts';

/** The config file of the measured command: the gateway of the other measurements, over one SQLite file. */
const { BENCH_UPSTREAM = '', BENCH_DATABASE = '' } = process.env;
const sqliteStore = await loadBuiltSqlite();

export default { ...gatewayOptions(BENCH_UPSTREAM, () => undefined), store: sqliteStore(BENCH_DATABASE) };
