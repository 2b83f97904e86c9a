import process from 'node:process';

/**
 * The CPU time of this thread, ms. A bound on the time of a computation is a bound on this: time on the wall also passes
 * while other processes have the core.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
