#!/bin/sh
# The main job on EMR, from a node of the cluster: conf/emr/submit.sh --warcs s3://… --output s3://bucket/tables [flags of jobs/run.py]
# JOB names another job than run: preprocess, label and extract are the stages of a staged run, for clusters of their own.
# INSTALLED=1 runs the package that the bootstrap action installed, not this folder's: a compiled wheel, which no zip can hold.
# SPARK_SUBMIT_FLAGS adds flags for spark-submit itself; later ones win, so that --master local[2] tries it on one machine.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
code=
if [ -z "${INSTALLED:-}" ]; then
    # A zip: a wheel given to --py-files can be imported by the driver, but not by the workers.
    zip=$(mktemp -d)/dripper.zip
    (cd "$root/lib" && "${PYTHON:-python3}" -m zipfile -c "$zip" dripper)
    code="--py-files $zip"
fi
# shellcheck disable=SC2086
exec "${SPARK_SUBMIT:-spark-submit}" --master yarn --deploy-mode client --properties-file "$root/conf/emr/spark.conf" \
    $code ${SPARK_SUBMIT_FLAGS:-} "$root/jobs/${JOB:-run}.py" "$@"
