# One monitor and one OSD in memory, no manager and no keys: `$1` this container's address.
set -eu
folder=/run/ceph-lab; mkdir -p $folder/mon $folder/osd /etc/ceph
fsid=$(cat /proc/sys/kernel/random/uuid)
cat >/etc/ceph/ceph.conf <<CONF
[global]
fsid = $fsid
mon host = [v2:$1:3300,v1:$1:6789]
public network = $1/32
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
osd objectstore = memstore
run dir = $folder
log file = $folder/\$name.log
[mon]
mon data = $folder/mon
mon initial members = a
mon data avail warn = 1
mon data avail crit = 1
[osd]
osd data = $folder/osd
memstore device bytes = 1073741824
osd pool default pg num = 8
CONF
monmaptool --create --fsid "$fsid" --addv a "[v2:$1:3300,v1:$1:6789]" $folder/monmap --clobber
ceph-mon --mkfs -i a --monmap $folder/monmap
setsid ceph-mon -i a -f </dev/null >$folder/mon.out 2>&1 &
until timeout 5 ceph -s >/dev/null 2>&1; do sleep 0.2; done
uuid=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$uuid"
ceph-osd -i 0 --mkfs --osd-uuid "$uuid"
ceph osd crush add osd.0 1.0 host=h root=default
setsid ceph-osd -i 0 -f </dev/null >$folder/osd.out 2>&1 &
until ceph osd stat | grep -q '1 up'; do sleep 0.2; done
ceph osd pool create rbd 8 8
# Without a manager nothing counts placement groups.
until timeout 20 rbd create --size 1M first; do sleep 0.2; done
