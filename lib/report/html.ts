/** The report of a run as a page. */
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { html } from 'hono/html';
import { renderDocument } from './document.ts';
import { echartsFile } from './echarts.ts';
import { detailSections } from './html-details.ts';
import { pageHeader } from './first-screen.ts';
import { verdictSections } from './html-first-screen.ts';
import { timelineSection } from './html-timeline.ts';
import { packOperations } from './operation-columns.ts';
import type { ReportData } from './types.ts';

const pack = (text: string): string => deflateRawSync(text).toString('base64');

/** A complete HTML document; the same data gives the same bytes. */
export function renderHtml(data: ReportData): Promise<string> {
  const { verdict, timeline, raw } = data;
  const { about, packed } = packOperations(data.operations);
  const records = JSON.stringify(
    raw.map(({ id, atS, kind, source, text }) => [id, atS, kind, source, text]),
  );
  return renderDocument({
    title: `${verdict.verdict.toUpperCase()}: ${String(verdict.scenario['name'])} (${verdict.runId})`,
    header: pageHeader(data.first, { themes: true }),
    main: html`${verdictSections(data)}
${timelineSection(data)}
${detailSections(data)}`,
    scripts: {
      library: readFileSync(echartsFile, 'utf8'),
      page: 'page',
      json: { 'timeline-data': { timeline, operations: about } },
      packed: { 'operations-data': packed, 'records-data': pack(records) },
    },
  });
}
