#!/bin/busybox sh
# The first process of a guest: modules, a read-only root, then a shell for whoever connects to
# port 1001. What comes through the connection is run; its end is the script's end.
busybox=/bin/busybox
$busybox mount -t proc proc /proc
$busybox mount -t devtmpfs dev /dev
for module in /modules/*.ko; do
  $busybox insmod "$module" || echo "guest: no $module"
done
$busybox mount -o ro -t ext4 /dev/vda /root || exec $busybox sh
cd /root || exit
$busybox mount -t proc proc proc
$busybox mount -t sysfs sys sys
$busybox mount -t devtmpfs dev dev
for folder in tmp run mnt; do $busybox mount -t tmpfs tmp $folder; done
$busybox ifconfig lo 127.0.0.1 up
$busybox ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
echo guest-ready
# 600 s: how long a script may go on once it was sent in full.
exec $busybox chroot /root socat -t 600 TCP-LISTEN:1001,fork,reuseaddr EXEC:sh
