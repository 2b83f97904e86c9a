import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, tableOf } from './table.ts';

export interface ModelsFlags extends SourceFlags {
  search?: string;
}

/** Lists the models that can be asked, or the endpoints of one. */
export async function models(terminal: Terminal, model: string | undefined, flags: ModelsFlags): Promise<void> {
  const source = await openSource(terminal, flags, { needsStore: false });
  try {
    if (model !== undefined) {
      const path = model.split('/').map(encodeURIComponent).join('/');
      const { data } = await source.ask('GET', `/models/${path}/endpoints`);
      terminal.print(flags.json ? `${JSON.stringify({ data }, null, 2)}\n` : endpointsShown(data));
      return;
    }
    const query = flags.search === undefined ? '' : `?${new URLSearchParams({ q: flags.search })}`;
    const { data } = await source.ask('GET', `/models${query}`);
    terminal.print(flags.json ? `${JSON.stringify({ data }, null, 2)}\n` : modelsShown(data));
  } finally {
    await source.close();
  }
}

function modelsShown(list: Body[]): string {
  if (list.length === 0) return 'No model.\n';
  const rows = list.map(({ id, context_length: context, pricing }): Cell[] => [
    id,
    context ?? null,
    perMillion(pricing?.prompt),
    perMillion(pricing?.completion),
  ]);
  return tableOf(['model', 'context', 'USD/M in', 'USD/M out'], rows);
}

function endpointsShown({ endpoints }: Body): string {
  const rows = (endpoints as Body[]).map((endpoint): Cell[] => [
    endpoint.tag ?? endpoint.provider_name,
    String(endpoint.status),
    endpoint.context_length ?? null,
    endpoint.max_completion_tokens ?? null,
    perMillion(endpoint.pricing?.prompt),
    perMillion(endpoint.pricing?.completion),
  ]);
  return tableOf(['endpoint', 'status', 'context', 'most output', 'USD/M in', 'USD/M out'], rows);
}

/** Returns the price of a million tokens; prices are of one. */
function perMillion(price: unknown): Cell {
  const money = moneyOf(price);
  return money === null ? null : moneyOf(money.usd * 1e6);
}
