/**
 * A page as one self-contained file: no request leaves it, and its Content-Security-Policy allows
 * only the scripts and the style it was made with. Every value is escaped by the templates.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { html, raw } from 'hono/html';
import { isCheckout, projectRoot, writeOutput } from '../core/index.ts';
import { type FirstScreen, pageHeader } from './first-screen.ts';
import { type Html, wordList } from './html-parts.ts';

export interface Document {
  readonly title: string;
  readonly screen: FirstScreen;
  readonly main: Html;
  readonly scripts?: Scripts;
}

interface Scripts {
  /** Runs first. Default: none. */
  readonly library?: string;
  readonly page: PageScript;
  /** Stands in the element `data`, as deflated JSON in base64. Default: none. */
  readonly data?: object;
  /** Stands in the element `bytes`, deflated in base64. Default: none. */
  readonly bytes?: Uint8Array;
}

const sha256 = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`;

/** The same parts give the same bytes. */
export async function renderDocument(document: Document): Promise<string> {
  const { title, screen, main, scripts } = document;
  const rules = readFileSync(new URL('browser/style.css', import.meta.url), 'utf8');
  const style = rules.replaceAll(/\n\s+/g, '\n');
  const run = scripts === undefined ? [] : await scriptsOf(scripts);
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    'img-src data:',
    `style-src ${sha256(style)}`,
    ...(run.length === 0 ? [] : [`script-src ${run.map(sha256).join(' ')}`]),
  ].join('; ');
  // A theme can be chosen where something draws in its colours.
  const parts = html`${pageHeader(screen, { themes: scripts?.library !== undefined })}
<main>
${main}
`;
  const content = String(await parts);
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body>
${raw(content)}${wordList(content)}
</main>
${scripts === undefined ? '' : scriptElements(scripts, run)}</body>
</html>
`;
  return String(page);
}

const scriptsOf = async ({ library, page }: Scripts): Promise<string[]> => [
  ...(library === undefined ? [] : [library]),
  await pageScript(page),
];

/** Only the last one is a module. */
const scriptElements = ({ data, bytes }: Scripts, run: readonly string[]): Html =>
  html`${data === undefined ? '' : packed('data', JSON.stringify(data))}${
    bytes === undefined ? '' : packed('bytes', bytes)
  }${run.slice(0, -1).map((library) => html`<script>${raw(library)}</script>`)}
<script type="module">${raw(run.at(-1) ?? '')}</script>
`;

const packed = (id: string, content: string | Uint8Array): Html =>
  html`<script type="application/octet-stream" id="${id}">${raw(deflateRawSync(content).toString('base64'))}</script>
`;

export type PageScript = 'page' | 'batch';

const folder = fileURLToPath(new URL('browser/', import.meta.url));
/** Folders of what is bundled. */
const folders = [folder, fileURLToPath(new URL('axis/', import.meta.url))];
const bundles = new Map<PageScript, Promise<string>>();

/** Bundled once a process. The npm package has the bundles in it (scripts/pack.ts). */
export function pageScript(name: PageScript): Promise<string> {
  const known = bundles.get(name) ?? (isCheckout ? cached(name) : read(`${folder}${name}.bundle`));
  bundles.set(name, known);
  return known;
}

const read = (path: string): Promise<string> => Promise.resolve(readFileSync(path, 'utf8'));

/** Rolldown takes 0.2 s, so its output is kept beside the packages for as long as the sources stay as they are. */
async function cached(name: PageScript): Promise<string> {
  const sources = folders.flatMap((each) => readdirSync(each).map((file) => join(each, file)));
  const hash = createHash('sha256');
  for (const file of sources.toSorted()) hash.update(readFileSync(file));
  const cache = join(projectRoot, 'node_modules/.cache/forcedetach');
  const path = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}.js`);
  if (existsSync(path)) return read(path);
  const script = await bundle(name);
  try {
    mkdirSync(cache, { recursive: true });
    writeOutput(path, script);
  } catch {
    // A read-only checkout: the next process bundles again.
  }
  return script;
}

async function bundle(name: PageScript): Promise<string> {
  const { rolldown } = await import('rolldown');
  await using bundled = await rolldown({
    input: join(folder, `${name}.ts`),
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await bundled.generate({ format: 'es', minify: true });
  return output[0].code;
}
