/** MySQL from Debian, trimmed, with an entrypoint that behaves as the official image's. */
import { definePart, type Part } from '../part.ts';
import { mysqlDebianSuite, mysqlSeries } from '../versions.ts';
import { bootstrap, importImage } from './debian.ts';

const recipe = 'lib/images/built/mysql';

export function mysqlPart(root: string): Part {
  const inputs = { files: [`${root}/${recipe}`], settings: [mysqlSeries] };
  return definePart('mysql', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages: ['mysql-server-core', 'mysql-client-core'],
        customize: { script: `${recipe}/customize`, argument: 'trim' },
      },
      '"$WORK/root.tar"',
    ),
    // Debian's series moves on: another one must not pass for this.
    `tar -xOf "$WORK/root.tar" ./var/lib/dpkg/status |
      grep -A 9 '^Package: mysql-server-core' | grep -F 'Version: ${mysqlSeries}.'`,
    importImage('"$WORK/root.tar"', { name: 'mysql', key, ref }, [
      'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
      'CMD ["mysqld"]',
      'VOLUME /var/lib/mysql',
    ]),
  ]);
}
