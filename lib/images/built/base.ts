/** The root of a node: Debian with systemd, containerd and what kubelet calls. */
import { definePart, type Part } from '../part.ts';
import { nodeDebianSuite } from '../versions.ts';
import { bootstrap, importImage } from './debian.ts';

const recipe = 'lib/images/built/node';

const packages = [
  'systemd systemd-sysv dbus hostname kmod ca-certificates procps',
  'containerd runc containernetworking-plugins',
  'iproute2 iptables nftables conntrack ethtool socat',
  'util-linux mount e2fsprogs xfsprogs perl-base',
].flatMap((line) => line.split(' '));

const files = [
  'customize',
  'entrypoint',
  'kubelet-cgroup',
  'containerd.toml',
  'containerd.service',
  'kubelet.service',
];

export function basePart(root: string): Part {
  const inputs = { files: files.map((file) => `${root}/${recipe}/${file}`), settings: [] };
  return definePart('base', inputs, (key, ref) => [
    bootstrap(
      {
        suite: nodeDebianSuite,
        variant: 'minbase',
        packages,
        customize: { script: `${recipe}/customize` },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'base', key, ref }, [
      'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
      'ENV container=docker',
    ]),
  ]);
}
