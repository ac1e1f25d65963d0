#!/bin/sh
# EMR bootstrap action: a virtual environment with the job's dependencies on every node, at /opt/dripper. Spark itself comes with EMR.
# Arguments: first the folder of setup.py or a wheel, for instance s3://bucket/dripper_spark-0.1.0-py3-none-any.whl; second the
# constraints (conf/constraints.txt), for instance s3://bucket/constraints.txt; third the extras, by default `cluster`; fourth the extras
# of nodes with an NVIDIA GPU, by default the same. A compiled wheel must be for the newest Python on the nodes. For labelers on GPUs,
# use `cluster` `cluster,gpu,encoder`, with conf/vllm-gpu.txt as the constraints. They need 10 GB on the root volume of a node with a
# GPU (EMR's default is 15 GB; request 50).
set -eu
wheel=$1
constraints=$2
extras=${3:-cluster}
# NVIDIA's vendor id on the PCI bus, because the driver may be installed later.
if grep -qs 0x10de "${PCI:-/sys/bus/pci/devices}"/*/vendor; then extras=${4:-$extras}; fi
folder=$(mktemp -d)
aws s3 cp "$wheel" "$folder/"
aws s3 cp "$constraints" "$folder/constraints.txt"
for python in python3.13 python3.12 python3.11; do
    if command -v "$python" > /dev/null; then break; fi
done
sudo "$python" -m venv /opt/dripper
sudo /opt/dripper/bin/pip install --quiet --upgrade pip
# The extra [cluster] has all requirements of the jobs except Spark.
sudo /opt/dripper/bin/pip install --quiet --constraint "$folder/constraints.txt" "$(echo "$folder"/*.whl)[$extras]"
