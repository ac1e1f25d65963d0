#!/bin/sh
# EMR bootstrap action of clusters with GPUs, used with bootstrap.sh, conf/emr/gpu.json and instance_groups.json. It mounts the devices
# controller of cgroups v1, with which YARN hides the GPUs of other containers. Amazon Linux 2023 mounts only version 2.
set -eu
sudo mkdir -p /dripper-cgroup/devices
sudo mount -t cgroup -o devices cgroupv1-devices /dripper-cgroup/devices
sudo chmod -R a+rwx /dripper-cgroup
