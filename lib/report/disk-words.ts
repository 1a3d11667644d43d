/** The disk of a scenario in plain words. */
import { isDirectory, losesPower, type Scenario, originInWords } from '../scenario/index.ts';
import type { Verdict } from '../judge/index.ts';
import { linkWords, powerLossWords, storageWords } from './conditions.ts';
import { secondsShown } from '../core/index.ts';
import { scenarioOf } from './wording.ts';

/** What the fault does to the storage or to the way there; nothing where it reaches neither. */
function fateOf({ fault, link, powerLoss }: Scenario): string[] {
  if (losesPower(fault)) return [powerLossWords[powerLoss]];
  return fault === 'network-partition' ? [linkWords[link]] : [];
}

/** The driver was not part of the run: only its kind was. */
const originOf = ({ disk, diskFrom }: Scenario): string =>
  diskFrom === undefined
    ? ''
    : ` The kind comes from a certificate (${originInWords(diskFrom, disk)}); the disk is the harness’s own.`;

/** In the order of most clusters: made, attached, staged, published. */
function madeBy({ provisioning }: Verdict): string {
  if (provisioning === undefined) return '';
  const { storageClass, calls } = provisioning;
  const done = calls.filter(({ error }) => error === undefined);
  const order = done.map(({ call, t }) => `${call} ${secondsShown(t / 1000)}`).join(', ');
  const failed = calls.length - done.length;
  const failures = failed === 0 ? '' : `; ${failed} calls failed before`;
  return ` The official external-provisioner made it for a claim of the class ${storageClass}. Times in the run: ${order}${failures}.`;
}

/** One sentence for the first screen, and one more where a certificate named the kind. */
export function diskInWords(verdict: Verdict): string {
  const scenario = scenarioOf(verdict);
  const { disk, filesystem, accessMode } = scenario;
  const on = isDirectory(disk) ? '' : `${filesystem}, `;
  const fate = fateOf(scenario)
    .map((clause) => `; ${clause}`)
    .join('');
  return `Disk ${disk} (${on}${accessMode}): ${storageWords(disk, scenario)}${fate}.${originOf(scenario)}${madeBy(verdict)}`;
}
