"""Seals and opens SSH packets with asyncssh, one request a line, so that tests can compare.

Requests, words separated by blanks, bytes in hexadecimal, `-` for none:

    key NAME CIPHER MAC KEY IV MACKEY   sets up one direction under NAME   -> ok | no REASON
    seal NAME SEQUENCE PACKET           PACKET: clear, without a tag       -> SEALED (with its tag)
    open NAME SEQUENCE PACKET           PACKET: sealed, with its tag       -> CLEAR | refused
"""

import sys
import warnings

warnings.simplefilter("ignore")

from asyncssh import encryption  # noqa: E402
from asyncssh.encryption import get_encryption, get_encryption_params  # noqa: E402
from asyncssh.mac import get_mac_algs  # noqa: E402


class Keyed:
    """One direction, cut into header and rest the way asyncssh's connection does it."""

    def __init__(self, cipher, mac, key, iv, mac_key):
        if cipher.encode() not in encryption.get_encryption_algs():
            raise ValueError("no cipher " + cipher)
        if mac and mac.encode() not in get_mac_algs():
            raise ValueError("no MAC " + mac)
        sizes = get_encryption_params(cipher.encode(), mac.encode())
        _, _, block, _, self.tag, self.etm = sizes
        self.head = max(8, block)
        self.code = get_encryption(
            cipher.encode(), key, iv, mac.encode(), mac_key, self.etm
        )

    def seal(self, sequence, packet):
        sealed, tag = self.code.encrypt_packet(sequence, packet[:4], packet[4:])
        return sealed + tag

    def open(self, sequence, packet):
        end = len(packet) - self.tag
        head, header = self.code.decrypt_header(sequence, packet[: self.head], 4)
        body = self.code.decrypt_packet(
            sequence, head, packet[self.head : end], 4, packet[end:]
        )
        return None if body is None else header + body


def unhex(word):
    return b"" if word == "-" else bytes.fromhex(word)


def main():
    keyed = {}
    for line in sys.stdin:
        verb, name, *words = line.split()
        if verb == "key":
            cipher, mac, *keys = words
            try:
                mac = "" if mac == "-" else mac
                keyed[name] = Keyed(cipher, mac, *map(unhex, keys))
                answer = "ok"
            except ValueError as reason:
                answer = "no " + str(reason)
        else:
            sequence, packet = int(words[0]), unhex(words[1])
            made = getattr(keyed[name], verb)(sequence, packet)
            answer = "refused" if made is None else made.hex()
        print(answer, flush=True)


if __name__ == "__main__":
    main()
