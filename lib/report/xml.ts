/** What all JUnit files share. */
import { html, raw } from 'hono/html';
import type { Html } from './html-parts.ts';

/** XML 1.0 has no way to say most control characters, not even escaped. */
// oxlint-disable-next-line no-control-regex
const unsayable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

export async function xmlDocument(suites: Html): Promise<string> {
  const document = await html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
${suites}
`;
  return String(document).replaceAll(unsayable, '\uFFFD');
}

export const property = (name: string, value: string): Html =>
  html`<property name="${name}" value="${value}"/>`;

/** A measured duration, as JUnit has it in seconds. */
export const timeAttribute = (ms: number): Html => html` time="${(ms / 1000).toFixed(3)}"`;
