#!/usr/bin/env bash
# The main job on EMR, from a node of the cluster:
#   DYNAMODB=eu-central-1 conf/emr/submit.sh --warcs s3://… --output s3://bucket/tables [flags of jobs/run.py]
# Exits with the job's own code, in both modes; docs/operations.md says what each wants from a person.
#
# MODE=client (the default) runs the driver on this node; MODE=cluster on one that YARN chooses. Settings files and @lists of this
#   node then travel along, and the job's last lines are fetched when it ends.
# JOB names another job than run: preprocess, label and extract are the stages of a staged run, for clusters of their own.
# INSTALLED=1 runs the package that the bootstrap action installed, not this folder's: a compiled wheel, which no zip can hold.
# DYNAMODB=eu-central-1 gives Delta its log store for several writers on S3: a table in DynamoDB of that region, by the name of
#   DYNAMODB_TABLE (delta_log), which Delta makes where it is not there. All writers of an output must have the same. Without it the
#   job wants to hear that nothing else writes there: --set output.single_writer=true.
# SPARK_SUBMIT_FLAGS adds flags for spark-submit itself; later ones win, so that --master local[2] tries it on one machine.
set -euo pipefail

stop() {
    echo "$1" >&2
    exit 2
}

# Notes the file $1 of this node for --files; $there is then its name beside the driver. It is numbered, as spark-submit takes no
# two files of one name, and plain, as it takes names for URIs.
ship() {
    [[ -f $1 ]] || stop "$2: there is no file $1 on this machine"
    there=${1##*/}
    there=${#files[@]}-${there//[^A-Za-z0-9._-]/_}
    cp "$1" "$folder/$there"
    files+=("$folder/$there")
}

# Sets $there to what the driver has to be given where this node was given the flag $1 with the value $2.
travel() {
    local part parts=()
    there=$2
    case $1 in
        --conf) ship "$2" "$1" ;;
        --warcs | --redo | --dismiss)
            while IFS= read -r -d , part; do
                there=$part
                if [[ $part == @* && $part != @*://* ]]; then
                    ship "${part#@}" "$1"
                    there=@$there
                fi
                parts+=("$there")
            done <<< "$2,"
            there=$(IFS=,; echo "${parts[*]}")
            ;;
    esac
}

# Sets $arguments to the job's, and $files to those of this node that it needs.
prepare_arguments() {
    local argument before=
    arguments=()
    files=()
    for argument; do
        there=$argument
        if [[ $mode == cluster ]]; then
            case $argument in
                --*=*)
                    travel "${argument%%=*}" "${argument#*=}"
                    there=${argument%%=*}=$there
                    ;;
                *) travel "$before" "$argument" ;;
            esac
        fi
        arguments+=("$there")
        before=$argument
    done
}

# Adds what Delta's log store for several writers needs to $flags. $1: Delta's jars in conf/emr/spark.conf.
add_log_store() {
    local jar=${1##*,} scheme store=io.delta.storage.S3DynamoDBLogStore
    # Beside delta-storage.jar, the last of them.
    jar=${LOG_STORE_JAR:-${jar%.jar}-s3-dynamodb.jar}
    [[ -f $jar ]] || stop "DYNAMODB=$DYNAMODB: there is no $jar; name Delta's delta-storage-s3-dynamodb in LOG_STORE_JAR"
    flags+=(--conf "spark.jars=$1,$jar")
    for scheme in s3 s3a; do flags+=(--conf "spark.delta.logStore.$scheme.impl=$store"); done
    flags+=(--conf "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region=$DYNAMODB")
    flags+=(--conf "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName=${DYNAMODB_TABLE:-delta_log}")
}

# Sets $flags to those of spark-submit.
prepare_flags() {
    local key value jars=
    flags=(--master yarn --deploy-mode "$mode")
    # Not --properties-file: with it Spark reads no spark-defaults.conf, where EMR has dynamic allocation, the event log and S3's classes.
    while read -r key value; do
        [[ -z $key || $key == \#* ]] || flags+=(--conf "$key=$value")
        [[ $key != spark.jars ]] || jars=$value
    done < "$root/conf/emr/spark.conf"
    [[ -z ${DYNAMODB:-} ]] || add_log_store "$jars"
    if [[ -z ${INSTALLED:-} ]]; then
        # A zip: a wheel given to --py-files can be imported by the driver, but not by the workers.
        (cd "$root/lib" && "${PYTHON:-python3}" -m zipfile -c "$folder/dripper.zip" dripper dripper_labelers dripper_lab)
        flags+=(--py-files "$folder/dripper.zip")
    fi
    if [[ $mode == cluster ]]; then
        # YARN would run a job again that ended with wrong usage or with work left, and a new driver beside one that it has lost.
        flags+=(--conf spark.yarn.maxAppAttempts=1)
        [[ ${#files[@]} -eq 0 ]] || flags+=(--files "$(IFS=,; echo "${files[*]}")")
    fi
    # shellcheck disable=SC2206  # words, as its name says
    flags+=(${SPARK_SUBMIT_FLAGS:-})
}

# What the job prints goes into the log of the driver's container, which YARN collects in the seconds after its end.
last_lines() {
    local yarn=${YARN:-yarn} container
    container=$("$yarn" applicationattempt -list "$1" | grep -o 'container_[e0-9_]*' | tail -n 1) &&
        "$yarn" logs -applicationId "$1" -containerId "$container" -log_files stdout |
        sed '1,/^LogContents:/d; /^End of LogType:/,$d' | tail -n 60 | grep .
}

# Runs the command in cluster mode. There spark-submit exits with 1 whatever the job's code is, and names that in its last lines.
run_in_cluster() {
    local log=$folder/log code=0 of_job application
    { "$@" 2>&1 >&3 | tee "$log" >&2; } 3>&1 || code=$?
    of_job=$(sed -n 's/.*User application exited with status \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    application=$(grep -o 'application_[0-9]*_[0-9]*' "$log" | tail -n 1 || true)
    if [[ -n $application ]]; then
        for _ in 1 2 3 4 5 6; do
            if last_lines "$application" 2> "$folder/why"; then break; fi
            sleep "${PAUSE_SECONDS:-5}"
        done
        echo "the driver's whole log: yarn logs -applicationId $application" >&2
    fi
    exit "${of_job:-$code}"
}

# A function, as bash reads a script while it runs: a new version that is put here during a night must not end that night's run.
main() {
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    mode=${MODE:-client}
    case $mode in
        client | cluster) ;;
        *) stop "MODE=$mode: it is client (the driver runs on this node) or cluster (on one that YARN chooses)" ;;
    esac
    folder=$(mktemp -d)
    trap 'rm -r "$folder"' EXIT
    prepare_arguments "$@"
    prepare_flags
    local command=("${SPARK_SUBMIT:-spark-submit}" "${flags[@]}" "$root/jobs/${JOB:-run}.py" "${arguments[@]}")
    if [[ $mode == cluster ]]; then run_in_cluster "${command[@]}"; else exec "${command[@]}"; fi
}

main "$@"
