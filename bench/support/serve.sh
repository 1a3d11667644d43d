#!/bin/sh
# Runs in the tools image, privileged: MySQL as the cluster runs it (manifests/mysql), its data on
# an ext4 volume on the block device $1, else on a loop device with direct I/O that goes with its
# mount, and the relay that leads to it.
set -eu
mount -t devtmpfs devtmpfs /dev
device=${1:-}
if [ -z "$device" ]; then
  truncate -s 4G /bench/volume.img
  device=$(losetup --find --show --direct-io=on /bench/volume.img)
fi
mke2fs -q -t ext4 "$device"
mkdir -p /var/lib/mysql
mount "$device" /var/lib/mysql
[ $# -gt 0 ] || losetup --detach "$device"
chown mysql: /var/lib/mysql

cat >/tmp/first.sql <<SQL
CREATE USER 'root'@'%';
GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;
CREATE DATABASE sbtest;
SQL
serve="mysqld --no-defaults --user=mysql --datadir=/var/lib/mysql/data --socket=/tmp/mysqld.sock"
$serve --initialize-insecure --init-file=/tmp/first.sql
$serve --sync-binlog=1 --innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=128M \
  --performance-schema=OFF --mysqlx=OFF --skip-name-resolve \
  --report-host=bench --report-user=bench &
until mysqladmin --host=127.0.0.1 --user=root --silent ping; do sleep 0.2; done
socat UNIX-LISTEN:/relay/mysql.sock,fork,mode=0666 TCP:127.0.0.1:3306,nodelay &
wait
