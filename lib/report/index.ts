/** Pages and exports of runs, groups and batches. */
export {
  type RunVerdict,
  type VerdictOf,
  batchVersionsOf,
  renderBatchHtml,
} from './batch/html.ts';
export { renderBatchMarkdown } from './batch/markdown.ts';

export { heatMapOf, heatMapSvg } from './batch/pictures.ts';

export { proveItIsOff } from './conditions.ts';
export { renderDocument } from './document.ts';
export { exportHistory } from './export.ts';
export { type Advice, type FirstScreen, adviceCards } from './first-screen.ts';
export { writeGroupOutputs } from './group.ts';
export { type Html, card, list, numbers, pairs, table, texts, wideTable } from './html-parts.ts';
export { type JunitCase, junit } from './junit.ts';
export { basisLabel, expectedInRun, openWords } from './wording.ts';
export { writeRun } from './write.ts';
