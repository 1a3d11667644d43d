/** `--print-job`: from the flags to a Job, or a plugin, that runs with the same ones inside the cluster. */
import { UsageError } from '../../errors.ts';
import { publishedRuntime } from '../../images/versions.ts';
import { usualHealMs } from '../../probe/cut/plan.ts';
import { mustBeConfirmed } from '../../probe/cut/refuse.ts';
import { jobText, sonobuoyText, type JobForm } from '../../probe/job.ts';
import { classOf, type ProbeFlags } from '../flags/probe-flags.ts';

/** Throws UsageError `NO_JOB_IMAGE`, `CUT_NOT_CONFIRMED`, `BAD_FLAG`. */
export function jobFor(flags: ProbeFlags, form: JobForm): string {
  const { image, namespace = 'forcedetach-probe', cut: node, remedy } = flags;
  const words = wordsOf(flags);
  if (image === publishedRuntime) {
    throw new UsageError('NO_JOB_IMAGE', 'a Job needs an image with the probe in it', {
      hint: 'none is published; build one, push it to where your nodes pull from, and name it with --image',
      command: 'node scripts/probe-image.ts',
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
  const { nodes, cut, yes } = flags;
  return [
    ...['--storage-class', classOf(flags)],
    ...(nodes === undefined ? [] : ['--nodes', nodes.join(',')]),
    ...['--volume-mode', flags.volumeMode, '--size', flags.size],
    ...(cut === undefined || yes === undefined
      ? ['--run', '--trials', String(flags.trials), '--horizon', seconds(flags.horizon)]
      : ['--cut', cut, '--yes', yes, '--cut-by', flags.cutBy, '--remedy', flags.remedy]),
    ...(cut === undefined ? [] : ['--heal-after', seconds(healAfterMs(flags))]),
  ];
}
