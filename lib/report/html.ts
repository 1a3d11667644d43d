/**
 * The report as one self-contained file: no request leaves it, and its Content-Security-Policy
 * allows only the scripts and the style it was made with. Every value is escaped by the templates.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { html, raw } from 'hono/html';
import { detailSections } from './html-details.ts';
import { pageHeader, verdictSections } from './html-first-screen.ts';
import { timelineSection } from './html-timeline.ts';
import type { ReportData } from './types.ts';

const require = createRequire(import.meta.url);
const read = (name: string): string =>
  readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8');

/** In an order in which each comes after what it uses. */
const pageFiles = [
  'palette',
  'timeline-axes',
  'timeline-series',
  'timeline-option',
  'page',
] as const;

/** The page's own script: its files as one module, without the borders between them. */
function pageScript(): string {
  const files = pageFiles.map((name) => read(`${name}.js`));
  return files
    .join('\n')
    .replaceAll(/^import .*$/gm, '')
    .replaceAll(/^export /gm, '');
}

const sha256 = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`;

/** JSON that can't end the script element it stands in. */
const inlineJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** A complete HTML document; the same data gives the same bytes. */
export async function renderHtml(data: ReportData): Promise<string> {
  const { verdict, timeline } = data;
  const style = read('style.css');
  const scripts = {
    echarts: readFileSync(require.resolve('echarts/dist/echarts.min.js'), 'utf8'),
    page: pageScript(),
  };
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    'img-src data:',
    `style-src ${sha256(style)}`,
    `script-src ${sha256(scripts.echarts)} ${sha256(scripts.page)}`,
  ].join('; ');
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${verdict.verdict.toUpperCase()}: ${String(verdict.scenario['name'])} (${verdict.runId})</title>
<style>${raw(style)}</style>
</head>
<body>
${pageHeader(data)}
<main>
${verdictSections(data)}
${timelineSection(data)}
${detailSections(data)}
</main>
<script type="application/json" id="timeline-data">${raw(inlineJson(timeline))}</script>
<script>${raw(scripts.echarts)}</script>
<script type="module">${raw(scripts.page)}</script>
</body>
</html>
`;
  return String(page);
}
