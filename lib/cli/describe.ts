/** What a run is about to do, as lines: seed first, then every parameter, the backend, the images. */
import { shortenedTimers } from '../experiment/scenario.ts';
import type { BackendChoice } from './backend.ts';
import { formatDuration } from './durations.ts';
import type { RunRequest } from './request.ts';

/** Ready to print; no trailing newline. */
export async function describeRequest(request: RunRequest, choice: BackendChoice): Promise<string> {
  const { scenario, seed, folder } = request;
  const parameters = Object.entries(scenario)
    .filter(([field]) => field !== 'question')
    .map(([field, value]) => `  ${field.replace(/Ms$/, '').padEnd(18)} ${showValue(field, value)}`);
  return [
    `seed ${seed}`,
    scenario.question,
    ...parameters,
    `Backend: ${choice.backend} — ${choice.why}. ${basisOf(request, choice)}`,
    `Folder: ${folder}`,
    `Replay: ${request.replay(choice.backend)}`,
    ...(choice.backend === 'kind' ? await imageLines(request) : []),
  ].join('\n');
}

function showValue(field: string, value: unknown): string {
  if (typeof value === 'number' && /Ms$|^remedyAt$/.test(field)) return formatDuration(value);
  return Array.isArray(value) ? value.join(' or ') : String(value);
}

function basisOf({ scenario }: RunRequest, choice: BackendChoice): string {
  if (choice.backend === 'sim') return 'Its verdict is a prediction by the built-in model.';
  const shortened = shortenedTimers(scenario);
  if (shortened.length === 0) return 'Stock timers.';
  return `Timers that differ from stock: ${shortened.join(', ')}.`;
}

/** The commands that the image layer would run. */
async function imageLines(request: RunRequest): Promise<string[]> {
  const { images, kubernetesVersion } = request.flags;
  return [`Images: ${images}, Kubernetes ${kubernetesVersion}`];
}
