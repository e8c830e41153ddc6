#!/bin/sh
# Makes Temporal's databases, or brings them to the schema of this version.
set -eu

tool() {
    database=$1
    shift
    temporal-sql-tool --plugin postgres12 --ep postgres -p 5432 -u hikitsugi --db "$database" "$@"
}

prepare() {
    tool "$1" create
    tool "$1" setup-schema -v 0.0
    tool "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

prepare temporal temporal
prepare temporal_visibility visibility
