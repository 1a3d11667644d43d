/**
 * `forcedetach probe -s CLASS`: what is to be expected of a class when a volume of it is detached by
 * force; with `--run` what happens.
 */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import {
  exitCode,
  UsageError,
  type ExitCode,
  type UserClients,
  userClients,
} from '../../core/index.ts';
import { publishedRuntime } from '../../kind/index.ts';
import {
  mustBeConfirmed,
  grantedObjects,
  probeAccount,
  cleanGiven,
  cleanUp,
  type CutOptions,
  runCut,
  answerText,
  cutText,
  measuredText,
  runTrials,
  holdAnswer,
  usualHealMs,
  jobText,
  sonobuoyText,
  type JobForm,
  type Certificate,
  predictionFor,
  compareCertificates,
  renderCertificateHtml,
  renderCutHtml,
  renderPredictionHtml,
  renderCertificateJunit,
  renderCutJunit,
  renderPredictionJunit,
  cutDryRun,
  dryRun,
  shownHome,
} from '../../probe/index.ts';
import { exits, say, tell } from '../command.ts';
import {
  checkProbeFlags,
  neededClass,
  probeCommand,
  type ProbeFlags,
} from '../flags/probe-flags.ts';
import { onInterrupt } from '../guard.ts';
import { writeAnswer, writeCertificate } from '../terminal/probe-output.ts';

/**
 * Exits with 0, also for a prediction where trials would be refused; with 1 for an answer that is not
 * expected, or that changed; with 3 where trials leave it undecided.
 */
export const probe = (): Command => probeCommand().action(exits(answer));

async function answer(given: ProbeFlags): Promise<ExitCode> {
  const flags = checkProbeFlags(given);
  if (flags.rbac) {
    tell(rbacText(flags));
    return exitCode.expected;
  }
  if (flags.printJob !== undefined) {
    tell(jobFor(flags, flags.printJob));
    return exitCode.expected;
  }
  if (flags.compare !== undefined) return compare(flags.compare);
  if (flags.clean) {
    return clean(await userClients(flags.context, flags.kubeconfig), flags.namespace);
  }
  const storageClass = neededClass(flags);
  const clients = await userClients(flags.context, flags.kubeconfig);
  if (flags.cut !== undefined) return runCutProbe(clients, flags, flags.cut);
  if (flags.run || flags.dryRun) return trials(clients, storageClass, flags);
  const volumeMode = flags.volumeMode === 'auto' ? 'Block' : flags.volumeMode;
  const prediction = await predictionFor(clients, { ...asked(storageClass, flags), volumeMode });
  const forms = { text: answerText, html: renderPredictionHtml, junit: renderPredictionJunit };
  await writeAnswer(flags, prediction, forms);
  return exitCode.expected;
}

const asked = (
  storageClass: string,
  { nodes, trials, size, horizon: horizonMs, image, namespace }: ProbeFlags,
) => ({
  ...{ storageClass, nodes, trials, size, horizonMs, image },
  ...(namespace === undefined ? {} : { namespace }),
});

/** A second Ctrl-C is told what was said last. */
function tellUntilInterrupt(
  first: string,
): Disposable & { readonly say: typeof say; readonly signal: AbortSignal } {
  let doing = first;
  const interrupt = onInterrupt(say, () => doing);
  return {
    signal: interrupt.signal,
    say(line) {
      doing = line;
      say(line);
    },
    [Symbol.dispose]: () => interrupt[Symbol.dispose](),
  };
}

async function trials(
  clients: UserClients,
  storageClass: string,
  flags: ProbeFlags,
): Promise<ExitCode> {
  using telling = tellUntilInterrupt('the trials are on');
  const { volumeMode, grant } = flags;
  const request = {
    ...asked(storageClass, flags),
    ...{ volumeMode, say: telling.say, signal: telling.signal },
    ...(grant === undefined ? {} : { grant }),
  };
  if (flags.dryRun) {
    tell(await dryRun(clients, request));
    return exitCode.expected;
  }
  const certificate = await runTrials(clients, request);
  const { answer, left } = certificate;
  const held = flags.expect === undefined ? undefined : holdAnswer(answer, flags.expect);
  const forms = {
    text: (made: Certificate) =>
      [measuredText(made), ...(held === undefined ? [] : ['', held.text])].join('\n'),
    html: renderCertificateHtml,
    junit: (made: Certificate) => renderCertificateJunit(made, held),
  };
  await writeCertificate(flags, `detach-${storageClass}.json`, certificate, forms);
  if (left !== undefined) return exitCode.infrastructure;
  if (held?.is === 'other') return exitCode.unexpected;
  return held?.is === 'undecided' || answer.modes.length === 0
    ? exitCode.inconclusive
    : exitCode.expected;
}

function compare([before = '', after = '']: readonly string[]): ExitCode {
  const { text, isSame } = compareCertificates(before, after);
  tell(text);
  if (isSame === undefined) return exitCode.inconclusive;
  return isSame ? exitCode.expected : exitCode.unexpected;
}

/** `given`: a namespace that was made for probes, and stays. */
async function clean(clients: UserClients, given: string | undefined): Promise<ExitCode> {
  if (given !== undefined) {
    await cleanGiven(clients, given);
    tell(`Nothing of a probe is in ${given}.`);
    return exitCode.expected;
  }
  const { removed, left, error } = await cleanUp(clients, say);
  for (const { name, why } of left) say(`${name} stays: ${why}`);
  if (removed.length > 0) tell(`Removed: ${removed.join(', ')}.`);
  if (error !== undefined) throw error;
  if (removed.length === 0) tell('Nothing to remove.');
  return exitCode.expected;
}

function rbacText(flags: ProbeFlags): string {
  const { cut: node, remedy, namespace, grant, account = probeAccount } = flags;
  const marks = remedy === 'out-of-service';
  const objects = grantedObjects({
    ...{ home: shownHome(namespace), grantsLater: grant !== undefined, to: account },
    ...(node === undefined ? {} : { cut: { node, marks } }),
  });
  return objects.map((object) => stringify(object)).join('---\n');
}

/** `--cut NODE`: one node is cut off; what became of each class. */
export async function runCutProbe(
  clients: UserClients,
  flags: ProbeFlags,
  node: string,
): Promise<ExitCode> {
  using telling = tellUntilInterrupt('the cut is prepared');
  const { image, size, remedy, cutBy: way, nodes } = flags;
  const [first = '', ...others] = neededClass(flags).split(',');
  const options: CutOptions = {
    ...{ node, image, size, remedy, way, confirmed: flags.yes },
    healAfterMs: healAfterMs(flags),
    classes: [first, ...others],
    // A volume of every class can be had so.
    volumeMode: flags.volumeMode === 'auto' ? 'Filesystem' : flags.volumeMode,
    ...(nodes === undefined ? {} : { next: nodes[1] }),
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...{ say: telling.say, signal: telling.signal },
  };
  if (flags.dryRun) {
    tell(await cutDryRun(clients, options));
    return exitCode.expected;
  }
  const certificate = await runCut(clients, options);
  const forms = { text: cutText, html: renderCutHtml, junit: renderCutJunit };
  await writeCertificate(flags, `cut-${node}.json`, certificate, forms);
  if (certificate.left !== undefined) return exitCode.infrastructure;
  return certificate.findings.every(({ outcome }) => outcome === 'undecided')
    ? exitCode.inconclusive
    : exitCode.expected;
}

/** Throws UsageError `NO_JOB_IMAGE`, `CUT_NOT_CONFIRMED`, `BAD_FLAG`. */
export function jobFor(flags: ProbeFlags, form: JobForm): string {
  const { image, namespace = 'forcedetach-probe', cut: node, remedy } = flags;
  const words = wordsOf(flags);
  if (image === publishedRuntime) {
    throw new UsageError('NO_JOB_IMAGE', 'a Job needs an image with the probe in it', {
      hint: 'none is published; build one, push it to where your nodes pull from, and name it with --image',
      command: 'npx node scripts/probe-image.ts',
    });
  }
  if (node !== undefined) mustBeConfirmed(node, flags.yes);
  const cut =
    node === undefined
      ? {}
      : { cut: { node, marks: remedy === 'out-of-service', healAfterMs: healAfterMs(flags) } };
  const request = { image, words, namespace, ...cut };
  return form === 'job' ? jobText(request) : sonobuoyText(request);
}

const healAfterMs = ({ healAfter, remedy }: ProbeFlags): number => healAfter ?? usualHealMs(remedy);

const seconds = (ms: number): string => `${ms / 1000}s`;

/** Without what is about this machine: its files, its kubeconfig. */
function wordsOf(flags: ProbeFlags): string[] {
  const { nodes, cut, yes, expect } = flags;
  return [
    ...['--storage-class', neededClass(flags)],
    ...(nodes === undefined ? [] : ['--nodes', nodes.join(',')]),
    ...['--volume-mode', flags.volumeMode, '--size', flags.size],
    ...(cut === undefined || yes === undefined
      ? ['--run', '--trials', String(flags.trials), '--horizon', seconds(flags.horizon)]
      : ['--cut', cut, '--yes', yes, '--cut-by', flags.cutBy, '--remedy', flags.remedy]),
    ...(expect === undefined ? [] : ['--expect', expect.join(',')]),
    ...(cut === undefined ? [] : ['--heal-after', seconds(healAfterMs(flags))]),
  ];
}
