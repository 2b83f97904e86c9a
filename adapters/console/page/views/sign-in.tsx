import { useState } from 'preact/hooks';
import { type Identity, messageOf, signIn } from '../api.ts';

/** The page for whom nobody knows yet. */
export function SignIn({ who }: { who: Identity }) {
  return (
    <main class="sign-in">
      <h1>{who.title}</h1>
      {who.by === 'host' ? <ByHost url={who.sign_in_url ?? null} /> : <ByKey />}
    </main>
  );
}

function ByHost({ url }: { url: string | null }) {
  return (
    <p class="note">
      The app that this console belongs to does not know you, or you may not look at it.{' '}
      {url && <a href={url}>Sign in to the app</a>}
    </p>
  );
}

function ByKey() {
  const [state, setState] = useState<{ isBusy: boolean; error: string | null }>({ isBusy: false, error: null });
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget as HTMLFormElement).get('key');
    setState({ isBusy: true, error: null });
    try {
      await signIn(String(key).trim());
    } catch (error) {
      setState({ isBusy: false, error: messageOf(error, 'The server cannot be reached') });
    }
  };
  return (
    <form class="card" onSubmit={submit}>
      <p>
        Sign in with an API key that has the permission <code>management</code>. It is sent once, and kept sealed in a
        cookie that no script can read.
      </p>
      <label class="field">
        <span>API key</span>
        <input name="key" type="password" autocomplete="current-password" required spellcheck={false} />
      </label>
      {state.error && (
        <p class="bad" role="alert">
          {state.error}
        </p>
      )}
      <button type="submit" class="main" disabled={state.isBusy}>
        Sign in
      </button>
    </form>
  );
}
