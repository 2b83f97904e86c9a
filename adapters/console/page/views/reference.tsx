import { placeOf, useLoaded } from '../api.ts';
import { Card, Page, Search, State, Table, wantedText } from '../parts.tsx';

interface Described {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
}
interface Document {
  paths: Record<string, Record<string, Described>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** The operations of the interface, as its own description has them. */
export function Reference() {
  const loaded = useLoaded<Document>('/openapi.json');
  const wanted = wantedText().toLowerCase();
  const all = Object.entries(loaded.data?.paths ?? {}).flatMap(([path, of]) =>
    Object.entries(of)
      .filter(([method]) => methods.includes(method))
      .map(([method, described]) => ({ method: method.toUpperCase(), path, ...described })),
  );
  const shown = all.filter(({ path, summary = '' }) => `${path} ${summary}`.toLowerCase().includes(wanted));
  const tags = [...new Set(shown.map(({ tags: [tag = 'Others'] = [] }) => tag))];
  return (
    <Page title="Reference" actions={<Search />}>
      <State of={loaded} empty={shown.length === 0 && 'No operation fits.'} />
      {loaded.data && (
        <p>
          The whole description, for tools: <a href={placeOf('api/openapi.json').href}>openapi.json</a>
        </p>
      )}
      {tags.map((tag) => (
        <Card key={tag} title={tag}>
          <Table
            label={tag}
            rows={shown.filter(({ tags: [one = 'Others'] = [] }) => one === tag)}
            columns={[
              { name: 'Method', of: ({ method }) => <code>{method}</code> },
              { name: 'Path', of: ({ path }) => <code>{path}</code> },
              { name: 'What it does', isWide: true, of: ({ summary }) => summary ?? '' },
              {
                name: 'Parameters',
                isWide: true,
                of: ({ parameters = [] }) =>
                  parameters.map(({ name, required }) => name + (required ? '' : '?')).join(', '),
              },
            ]}
          />
        </Card>
      ))}
    </Page>
  );
}
