#!/bin/sh
# SPDX-License-Identifier: MIT
# A sale from end to end, on one machine: the seller's side, the buyer's side, and what happens when somebody between changes
# the file, or a buyer is struck off.
#
#     examples/sell_dataset.sh [FOLDER]      the tool is $ALIMENTAR, else alimentar
set -eu
alimentar=${ALIMENTAR:-alimentar}
data=$(cd "$(dirname "$0")/data" && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder"
rm -rf home seller.key* buyer.key* sold.ald changed.ald rows.csv revoked.ald
export ALIMENTAR_HOME="$PWD/home" # instead of ~/.alimentar

refused() { # NAME COMMAND...: it must fail, with this error
    name=$1
    shift
    if "$@" >refused.out 2>&1; then
        echo "not refused: $*" >&2
        exit 1
    fi
    grep -q "error: $name:" refused.out || { cat refused.out >&2; exit 1; }
    echo "refused: $name"
}

# Each makes keys; the passphrase would be asked for on a terminal.
printf 'seller secret\n' >seller.pass
printf 'buyer secret\n' >buyer.pass
"$alimentar" keygen -q -o seller.key --key-passphrase-file seller.pass
"$alimentar" keygen -q -o buyer.key --key-passphrase-file buyer.pass

# The buyer sends buyer.key.pub, the seller packages the table for them.
id=$("$alimentar" package -q "$data/penguins.csv" sold.ald --null NA --licensee 'ACME Inc.' --expires 2099-12-31 --queries 2 \
    --revocable --recipient buyer.key.pub --key seller.key --key-passphrase-file seller.pass)
echo "sold with license $id"

# The buyer compares the fingerprint with the seller, over the telephone, and trusts them from then on.
refused UntrustedSigner "$alimentar" open sold.ald --private-key buyer.key --key-passphrase-file buyer.pass
"$alimentar" trust add seller.key.pub --name seller
"$alimentar" open sold.ald --private-key buyer.key --key-passphrase-file buyer.pass
"$alimentar" open sold.ald rows.csv --private-key buyer.key --key-passphrase-file buyer.pass
echo "$(($(wc -l <rows.csv) - 1)) rows"

# One byte of the metadata, with the checksum set right again: the signature tells.
python3 - <<'PYTHON'
import zlib
data = bytearray(open("sold.ald", "rb").read())
data[40] ^= 1
data[-4:] = zlib.crc32(data[:-4]).to_bytes(4, "little")
open("changed.ald", "wb").write(data)
PYTHON
refused SignatureInvalid "$alimentar" open changed.ald --private-key buyer.key --key-passphrase-file buyer.pass

# The license allows two queries on this machine.
"$alimentar" open sold.ald rows.csv --force --private-key buyer.key --key-passphrase-file buyer.pass
refused LicenseExhausted "$alimentar" open sold.ald rows.csv --force --private-key buyer.key --key-passphrase-file buyer.pass

# The seller revokes it, and publishes the list.
"$alimentar" license revoke -q "$id" -o revoked.ald --key seller.key --key-passphrase-file seller.pass --reason 'not paid'
refused LicenseRevoked "$alimentar" license check sold.ald --revocations revoked.ald
