/** What a batch is about to do: seed first, then its size, the backend, the images. */
import type { BatchPlan } from '../../batch/index.ts';
import type { EventSetting } from '../batch/matrix-run.ts';
import { matrixCommand } from '../flags/matrix-flags.ts';
import { unusedFlags } from '../flags/unused-flags.ts';

interface BatchRequest extends Pick<EventSetting, 'choice' | 'flags' | 'slots'> {
  readonly plan: BatchPlan;
  readonly folder: string;
}

const cellLine = ({ id, label, scenario }: BatchPlan['cells'][number]): string =>
  `  ${id}  ${label}; ${scenario.expected.join(' or ')}`;

/** Lists the cells in a dry run only. `replay`: the command that repeats it. */
export function describeBatch(request: BatchRequest, replay: string): string {
  const { plan, folder, choice, flags, slots } = request;
  const { cells, controls, trials, matrix } = plan;
  const checks = trials.filter(({ kind }) => kind === 'check').length;
  return [
    `seed ${plan.seed}`,
    matrix.question,
    ...(flags.dryRun ? cells.map(cellLine) : []),
    `${cells.length} cells × ${matrix.repeats}, ${controls.length} controls, ${checks} reruns alone: ` +
      `${trials.length} runs`,
    ...(flags.dryRun
      ? [`order: ${trials.map(({ id, alone }) => (alone ? `(${id})` : id)).join(' ')}`]
      : []),
    `backend: ${choice.backend}, ${choice.why}; on ${slots.map(({ name }) => name).join(', ')}`,
    ...unusedFlags(matrixCommand().options, flags, choice),
    ...(choice.images === undefined ? [] : [choice.images.reason]),
    `folder: ${folder}`,
    `replay: ${replay}`,
  ].join('\n');
}
