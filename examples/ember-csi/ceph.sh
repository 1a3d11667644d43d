#!/bin/bash
# ceph.sh POOL: one monitor and one OSD in memory, no authentication, and a pool: what a client needs to be tried, no more.
# Runs in the foreground; /run/ceph/ready appears when images can be made.
set -eu
pool=$1
address=$(hostname -i)
mkdir -p /etc/ceph /run/ceph /data/mon /data/osd
cat > /etc/ceph/ceph.conf << END
[global]
fsid = 3b6a8c1e-0d1c-4f0e-9f8e-6d1f3f0f9a11
mon host = [v2:$address:3300,v1:$address:6789]
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
osd objectstore = memstore
memstore device bytes = 4294967296
mon data = /data/mon
osd data = /data/osd
mon initial members = a
mon data avail warn = 1
mon data avail crit = 1
END
monmaptool --create --fsid 3b6a8c1e-0d1c-4f0e-9f8e-6d1f3f0f9a11 --addv a "[v2:$address:3300,v1:$address:6789]" /data/monmap
ceph-mon --mkfs -i a --monmap /data/monmap
ceph-mon -i a -f &
until timeout 5 ceph -s > /dev/null 2>&1; do sleep 0.2; done
uuid=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$uuid"
ceph-osd -i 0 --mkfs --osd-uuid "$uuid"
ceph osd crush add osd.0 1.0 host=h root=default
ceph-osd -i 0 -f &
until ceph osd stat | grep -q '1 up'; do sleep 0.2; done
ceph osd pool create "$pool" 8 8
ceph osd pool application enable "$pool" rbd
# Without a manager nothing counts placement groups.
until timeout 20 rbd ls "$pool"; do sleep 0.2; done
touch /run/ceph/ready
wait
