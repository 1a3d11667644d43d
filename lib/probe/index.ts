/** The same questions, asked of somebody else’s cluster and storage. */
export type { Certificate } from './certificate.ts';
export { cleanGiven, cleanUp } from './clean.ts';
export { type CutOptions, runCut } from './cut.ts';
export { cutDryRun, dryRun, shownHome, predictionFor } from './dry-run.ts';
export { renderInspectionHtml } from './inspect/html.ts';
export { type Inspection, inspectFolder } from './inspect/inspect.ts';
export { inspectionText } from './inspect/words.ts';
export { type JobForm, jobForms, jobText, sonobuoyText } from './job.ts';
export { holdAnswer } from './judge/measured.ts';
export { type CutRemedy, type CutWay, cutRemedies, cutWays, usualHealMs } from './plan.ts';
export { certifiedDisk, compareCertificates } from './published/driver-file.ts';
export {
  renderCertificateHtml,
  renderCutHtml,
  renderPredictionHtml,
  writeCertificatePages,
} from './published/html.ts';
export {
  renderCertificateJunit,
  renderCutJunit,
  renderPredictionJunit,
} from './published/junit.ts';
export { renderRiskHtml } from './published/risk-page.ts';
export { mustBeConfirmed } from './refuse.ts';
export { type Grantee, grantedObjects, granteeOf, probeAccount } from './rights.ts';
export { answerText, cutText, measuredText } from './texts.ts';
export { readRisk, riskText } from './risk.ts';
export { type TrialsRequest, runTrials } from './trials.ts';
