# shellcheck shell=sh
# To be sourced by other scripts. uv reads only its own variables. Unless they are already set, this file sets
# them to pip's certificates and indexes.
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-${UV_INDEX_URL:-$PIP_INDEX_URL}}"
[ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_INDEX="${UV_INDEX:-$PIP_EXTRA_INDEX_URL}"
