/**
 * What is done on a node's own host by a pod that enters its namespaces: a heal is armed there, twice,
 * before the cut. Texts only. No pod heals: it dies with its node's network, or with its namespace. All
 * names are of one run, so that what a killed run left is in nobody's way.
 */
import type { Arming } from '../../cluster/node-shell.ts';
import { inSeconds, unitOf } from './arming-script.ts';

/** `network`: all that goes over the devices of the default routes; `kubelet`: it is stopped. */
export const cutWays = ['network', 'kubelet'] as const;
export type CutWay = (typeof cutWays)[number];

/** Name of the table of a run `forcedetach-probe-0a1b2c3d`. */
export const tableOf = (run: string): string => run.replaceAll('-', '_');
const filesOf = (run: string): string => `/run/${run}`;

interface Units {
  /** Two that know nothing of each other: a timer of systemd, and a service that sleeps. */
  readonly heal: string;
  readonly belt: string;
  readonly cut: string;
  /** Takes away what a killed probe left on the host. */
  readonly tidy: string;
}

const unitsOf = (run: string): Units => ({
  ...{ heal: unitOf(run, 'heal'), belt: unitOf(run, 'belt') },
  ...{ cut: unitOf(run, 'cut'), tidy: unitOf(run, 'tidy') },
});

/** Folder of the writers' journals on a node that is cut off: pods' logs may go with the pods. */
export const journalFolder = (run: string): string => `/var/tmp/${run}`;

/** May run twice. For a console on the node, too. */
export const healCommand = (way: CutWay, run: string): string =>
  way === 'network'
    ? `nft delete table inet ${tableOf(run)} 2>/dev/null || true`
    : 'systemctl start kubelet';

const tools: Readonly<Record<CutWay, readonly string[]>> = {
  network: ['systemd-run', 'systemctl', 'nft', 'ip'],
  kubelet: ['systemd-run', 'systemctl'],
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

/** A host that was started anew has another: whoever wrote on it is gone, whatever a driver did. */
const sayBoot = 'echo "boot $(cat /proc/sys/kernel/random/boot_id)"';

/** Boot id of a host that said it. */
export const bootOf = (lines: readonly string[]): string | undefined =>
  lines.flatMap((line) => /^boot ([0-9a-f-]+)$/.exec(line)?.[1] ?? [])[0];

/**
 * Before anything is written there: whatever becomes of the probe, its files go by themselves. Says
 * `will be tidied` once that is proven, and refuses a node on which another run is armed.
 */
export function tidyArming(run: string, afterMs: number): Arming {
  const folder = filesOf(run);
  return {
    ...{ run, folder },
    before: `command -v systemd-run >/dev/null || { echo "lacks systemd-run"; exit 3; }
other=$(systemctl list-units --no-legend --plain 'forcedetach-probe-*-heal.timer' 'forcedetach-probe-*-belt.service')
test -z "$other" || { echo "another run is armed here: $other"; exit 3; }
mkdir -p ${folder}`,
    units: [{ name: 'tidy', afterMs, script: `rm -rf ${journalFolder(run)}\nrm -rf ${folder}` }],
    proof: `systemctl is-active --quiet ${unitsOf(run).tidy}.timer
echo "will be tidied"`,
  };
}

/** Says which boot it is and `armed` once both belts are proven; leaves nothing armed where one is not. */
export function healArming(way: CutWay, run: string, healAfterMs: number): Arming {
  const healS = inSeconds(healAfterMs);
  const [folder, units] = [filesOf(run), unitsOf(run)];
  const script = healCommand(way, run);
  return {
    ...{ run, folder },
    before: `for tool in ${tools[way].join(' ')}; do
  command -v "$tool" >/dev/null || { echo "lacks $tool"; exit 3; }
done
mkdir -p ${folder}`,
    units: [
      { name: 'heal', afterMs: healAfterMs, accuracyMs: 1000, script },
      { name: 'belt', script: `sleep ${healS + beltLaterS}\n${script}` },
    ],
    proof: `if systemctl is-active --quiet ${units.heal}.timer && systemctl is-active --quiet ${units.belt}.service
then ${sayBoot}; echo "armed ${healS}"
else systemctl stop ${units.heal}.timer ${units.belt}.service; echo "not armed"; exit 4
fi`,
  };
}

/** A moment later, so that its pod can end and say so. Without both belts nothing is cut. */
export function cutArming(way: CutWay, run: string): Arming {
  const units = unitsOf(run);
  const script = `set -eu
systemctl is-active --quiet ${units.heal}.timer
systemctl is-active --quiet ${units.belt}.service
${cutCommand(way, run)}`;
  return {
    ...{ run, folder: filesOf(run), before: '' },
    units: [{ name: 'cut', afterMs: 3000, accuracyMs: 100, script }],
    proof: 'echo "cutting"',
  };
}

/** Undoes all of it but the tidying, whatever was done; says which boot it is and `healed` where nothing of it is left. */
export function checkScript(way: CutWay, run: string): string {
  const units = unitsOf(run);
  return `set -u
systemctl stop ${units.cut}.timer ${units.heal}.timer ${units.belt}.service 2>/dev/null
${healCommand(way, run)}
if nft list table inet ${tableOf(run)} >/dev/null 2>&1; then echo "the table is there"; exit 5; fi
systemctl is-active --quiet kubelet || { echo "kubelet is not active"; exit 5; }
${sayBoot}
echo "healed"`;
}

/** Lines as `<pod> <line>`; then all of the run is gone from the host. */
export const collectScript = (run: string): string => `set -eu
cd ${journalFolder(run)}
for file in *.log; do sed "s/^/\${file%.log} /" "$file"; done
cd /
systemctl stop ${unitsOf(run).tidy}.timer
rm -rf ${journalFolder(run)} ${filesOf(run)}
echo "end of journals"`;
