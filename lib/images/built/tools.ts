/**
 * Our own programs' images: `tools` runs beside the cluster (Node, mysqld and the disk's tools),
 * `runtime` is what the driver needs under it (Node and the disk's tools).
 */
import { definePart, type ImagePart } from '../part.ts';
import { mysqlDebianSuite, mysqlSeries, nodeVersion } from '../versions.ts';
import { bootstrap, importImage } from './debian.ts';

const diskTools = [
  'util-linux',
  'mount',
  'e2fsprogs',
  'xfsprogs',
  'perl-base',
  'procps',
  'libstdc++6',
];
const addNode = 'lib/images/built/tools/customize';
const environment = ['ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];

export function toolsPart(root: string): ImagePart {
  const packages = ['mysql-server-core', 'mysql-client-core', 'iproute2', 'socat', ...diskTools];
  const inputs = {
    files: [`${root}/${addNode}`, `${root}/lib/images/built/mysql`],
    settings: [mysqlSeries, nodeVersion],
  };
  return definePart('tools', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages,
        customize: { script: addNode, argument: 'mysql' },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'tools', key, ref }, [...environment, 'WORKDIR /app']),
  ]);
}

export function runtimePart(root: string): ImagePart {
  const inputs = { files: [`${root}/${addNode}`], settings: [nodeVersion] };
  return definePart('runtime', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages: diskTools,
        customize: { script: addNode },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'runtime', key, ref }, [
      ...environment,
      'CMD ["node"]',
    ]),
  ]);
}
