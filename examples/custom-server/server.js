import process from 'node:process';
import { createGateway } from 'model-gateway';
import { serve } from 'srvx';

// The platform's own users; in a real one, a database or a session service.
const sessions = new Map([[process.env.SESSION ?? 'session-of-ada', { id: 'ada', isAdmin: false }]]);

const gateway = createGateway({
  providers: {
    // Responds without a key or a network.
    sandbox: {},
    // Any OpenAI-compatible server, here Ollama: ask for "local/<its model>".
    local: { baseUrl: process.env.LOCAL_BASE_URL ?? 'http://127.0.0.1:11434/v1' },
  },
  // Instead of API keys: every user who is signed in to the platform may use models.
  authenticate(request) {
    const [, session] = /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
    const user = sessions.get(session ?? '');
    if (!user) return null;
    return { userId: user.id, permissions: user.isAdmin ? ['inference', 'management'] : ['inference'] };
  },
});

// The platform's own server: any function that turns a Request into a Response.
async function handle(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/platform/models/')) return gateway.handle(request, { basePath: '/platform/models' });
  return new Response('The page of the app\n');
}

const port = Number(process.env.PORT ?? 3000);
const server = serve({ port, hostname: '127.0.0.1', silent: true, fetch: handle });
await server.ready();
console.log(`http://127.0.0.1:${port}/platform/models`);
