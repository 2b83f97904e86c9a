import { signal } from '@preact/signals';

export type ThemeChoice = 'auto' | 'light' | 'dark';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const themeKey = 'model-gateway-theme';
export const themeChoice = signal<ThemeChoice>((localStorage.getItem(themeKey) as ThemeChoice | null) ?? 'auto');
/** The theme in use. Charts are drawn anew when it changes: a canvas knows no custom properties. */
export const theme = signal('light');

/** Shows a theme, and remembers the choice. */
export function applyTheme(choice: ThemeChoice = themeChoice.value): void {
  themeChoice.value = choice;
  localStorage.setItem(themeKey, choice);
  const shown = choice === 'auto' ? (systemDark.matches ? 'dark' : 'light') : choice;
  document.documentElement.dataset.theme = shown;
  theme.value = shown;
}
systemDark.addEventListener('change', () => applyTheme());
