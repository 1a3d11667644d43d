/**
 * What is done on a node's own host by a pod that enters its namespaces: a heal is armed there, twice,
 * before the cut. Texts only. No pod heals: it dies with its node's network, or with its namespace. All
 * names are of one run, so that what a killed run left is in nobody's way.
 */
import type { ArmedUnit, Arming } from '../run/index.ts';
import type { CutWay } from './plan.ts';

const inSeconds = (ms: number): number => Math.ceil(ms / 1000);
const inWords = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

const unitOf = (run: string, name: string): string => `${run}-${name}`;

/** What a node's own systemd is told, as a script: units of one run, each from a file. */
export function armingScript({ run, folder, before, units, proof }: Arming): string {
  const fileOf = ({ name }: ArmedUnit): string => `${folder}/${name}.sh`;
  const written = ({ name, script }: ArmedUnit, file: string): string =>
    `cat > ${file} <<'${name.toUpperCase()}'\n${script}\n${name.toUpperCase()}`;
  return [
    ...['set -eu', before],
    ...units.map((unit) => written(unit, fileOf(unit))),
    ...units.map((unit) => started(run, fileOf(unit), unit)),
    proof,
  ]
    .filter(Boolean)
    .join('\n');
}

function started(run: string, file: string, { name, afterMs, accuracyMs }: ArmedUnit): string {
  const when = [
    ...(afterMs === undefined ? [] : [`--on-active=${inSeconds(afterMs)}s`]),
    ...(accuracyMs === undefined ? [] : [`--timer-property=AccuracySec=${inWords(accuracyMs)}`]),
  ].join(' ');
  return `systemd-run --quiet --collect --unit=${unitOf(run, name)} ${when} /bin/sh ${file}`;
}

/** Name of the table of a run `forcedetach-probe-0a1b2c3d`. */
export const tableOf = (run: string): string => run.replaceAll('-', '_');
const filesOf = (run: string): string => `/run/${run}`;

/** `heal` and `belt` know nothing of each other: a timer of systemd, and a service that sleeps. */
const healsOf = (run: string): readonly [string, string] => [
  `${unitOf(run, 'heal')}.timer`,
  `${unitOf(run, 'belt')}.service`,
];

/** Folder of the writers' journals on a node that is cut off: pods' logs may go with the pods. */
export const journalFolder = (run: string): string => `/var/tmp/${run}`;

/** May run twice. For a console on the node, too. */
export const healCommand = (way: CutWay, run: string): string =>
  way === 'network'
    ? `nft delete table inet ${tableOf(run)} 2>/dev/null || true`
    : 'systemctl start kubelet';

const tools: Readonly<Record<CutWay, string>> = {
  network: 'systemd-run systemctl nft ip',
  kubelet: 'systemd-run systemctl',
};

const devices = `$( (ip -o route show default; ip -6 -o route show default) |
  sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | sort -u | paste -sd, )`;

/** In its own table, before all others; the loopback and the pods of the node go on. */
const cutCommand = (way: CutWay, run: string): string =>
  way === 'kubelet'
    ? 'systemctl stop kubelet'
    : `devices="${devices}"
test -n "$devices"
nft -f - <<RULES
table inet ${tableOf(run)} {
  chain input { type filter hook input priority -400; iifname { $devices } drop; }
  chain output { type filter hook output priority -400; oifname { $devices } drop; }
  chain forward { type filter hook forward priority -400;
    iifname { $devices } drop; oifname { $devices } drop; }
}
RULES`;

/** The second belt comes so much later than the first. */
const beltLaterS = 30;

/** When the node is back at the latest. */
export const latestHealMs = (healAfterMs: number): number => healAfterMs + 1000 * (beltLaterS + 5);

/** Whoever lives has taken its files from the host by then; it starts before the writers do. */
export const tidyLaterMs = 900_000;

/** A host that was started anew has another: whoever wrote on it is gone, whatever a driver did. */
const sayBoot = 'echo "boot $(cat /proc/sys/kernel/random/boot_id)"';

/** Boot id of a host that said it. */
export const bootOf = (lines: readonly string[]): string | undefined =>
  lines.flatMap((line) => /^boot ([0-9a-f-]+)$/.exec(line)?.[1] ?? [])[0];

/**
 * Before anything is written there: whatever becomes of the probe, its files go by themselves. Says
 * `will be tidied` once that is proven, and refuses a node on which another run is armed.
 */
export function tidyArming(run: string, healAfterMs: number): Arming {
  const folder = filesOf(run);
  const afterMs = latestHealMs(healAfterMs) + tidyLaterMs;
  return {
    ...{ run, folder },
    before: `command -v systemd-run >/dev/null || { echo "lacks systemd-run"; exit 3; }
other=$(systemctl list-units --no-legend --plain 'forcedetach-probe-*-heal.timer' 'forcedetach-probe-*-belt.service')
test -z "$other" || { echo "another run is armed here: $other"; exit 3; }
mkdir -p ${folder}`,
    units: [{ name: 'tidy', afterMs, script: `rm -rf ${journalFolder(run)}\nrm -rf ${folder}` }],
    proof: `systemctl is-active --quiet ${unitOf(run, 'tidy')}.timer
echo "will be tidied"`,
  };
}

/** Says which boot it is and `armed` once both belts are proven; leaves nothing armed where one is not. */
export function healArming(way: CutWay, run: string, healAfterMs: number): Arming {
  const healS = inSeconds(healAfterMs);
  const folder = filesOf(run);
  const [heal, belt] = healsOf(run);
  const script = healCommand(way, run);
  return {
    ...{ run, folder },
    before: `for tool in ${tools[way]}; do
  command -v "$tool" >/dev/null || { echo "lacks $tool"; exit 3; }
done
mkdir -p ${folder}`,
    units: [
      { name: 'heal', afterMs: healAfterMs, accuracyMs: 1000, script },
      { name: 'belt', script: `sleep ${healS + beltLaterS}\n${script}` },
    ],
    proof: `if systemctl is-active --quiet ${heal} && systemctl is-active --quiet ${belt}
then ${sayBoot}; echo "armed ${healS}"
else systemctl stop ${heal} ${belt}; echo "not armed"; exit 4
fi`,
  };
}

/** A moment later, so that its pod can end and say so. Without both belts nothing is cut. */
export function cutArming(way: CutWay, run: string): Arming {
  const active = healsOf(run).map((unit) => `systemctl is-active --quiet ${unit}\n`);
  const script = `set -eu\n${active.join('')}${cutCommand(way, run)}`;
  return {
    ...{ run, folder: filesOf(run), before: '' },
    units: [{ name: 'cut', afterMs: 3000, accuracyMs: 100, script }],
    proof: 'echo "cutting"',
  };
}

/** Undoes all of it but the tidying, whatever was done; says which boot it is and `healed` where nothing of it is left. */
export const checkScript = (way: CutWay, run: string): string => `set -u
systemctl stop ${unitOf(run, 'cut')}.timer ${healsOf(run).join(' ')} 2>/dev/null
${healCommand(way, run)}
if nft list table inet ${tableOf(run)} >/dev/null 2>&1; then echo "the table is there"; exit 5; fi
systemctl is-active --quiet kubelet || { echo "kubelet is not active"; exit 5; }
${sayBoot}
echo "healed"`;

/** Lines as `<pod> <line>`; then all of the run is gone from the host. */
export const collectScript = (run: string): string => `set -eu
cd ${journalFolder(run)}
for file in *.log; do sed "s/^/\${file%.log} /" "$file"; done
cd /
systemctl stop ${unitOf(run, 'tidy')}.timer
rm -rf ${journalFolder(run)} ${filesOf(run)}
echo "end of journals"`;
