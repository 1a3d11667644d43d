/** What a node's own systemd is told, as a script: units of one run, each from a file. Text only. */
import type { ArmedUnit, Arming } from '../../cluster/node-shell.ts';

export const inSeconds = (ms: number): number => Math.ceil(ms / 1000);
const inWords = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

export const unitOf = (run: string, name: string): string => `${run}-${name}`;

export function armingScript({ run, folder, before, units, proof }: Arming): string {
  const fileOf = ({ name }: ArmedUnit): string => `${folder}/${name}.sh`;
  return [
    ...['set -eu', before],
    ...units.map((unit) => written(fileOf(unit), unit)),
    ...units.map((unit) => started(run, fileOf(unit), unit)),
    proof,
  ]
    .filter(Boolean)
    .join('\n');
}

function written(file: string, { name, script }: ArmedUnit): string {
  const end = name.toUpperCase();
  return `cat > ${file} <<'${end}'\n${script}\n${end}`;
}

function started(run: string, file: string, { name, afterMs, accuracyMs }: ArmedUnit): string {
  const when = [
    ...(afterMs === undefined ? [] : [`--on-active=${inSeconds(afterMs)}s`]),
    ...(accuracyMs === undefined ? [] : [`--timer-property=AccuracySec=${inWords(accuracyMs)}`]),
  ].join(' ');
  return `systemd-run --quiet --collect --unit=${unitOf(run, name)} ${when} /bin/sh ${file}`;
}
