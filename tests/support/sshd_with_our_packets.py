"""Talks to a real sshd with asyncssh, whose packets somebody else seals and opens.

    sshd_with_our_packets.py DIRECTORY CIPHER MAC COMMAND...

COMMAND runs `sshd -i` on its standard input and output. DIRECTORY holds the client's key `user`.
asyncssh does the key exchanges, the login and the channel; each packet is a request on standard
output, answered on standard input. Words are separated by blanks, bytes are in hexadecimal, `-` is
for none:

    key NAME CIPHER MAC KEY IV MACKEY   sets up a direction           -> ok
    seal NAME SEQUENCE PACKET           PACKET: clear, without a tag  -> SEALED, with its tag
    length NAME SEQUENCE HEAD           HEAD: a packet's beginning    -> its length, a number
    open NAME SEQUENCE PACKET           PACKET: sealed, with its tag  -> CLEAR | refused
    done EXCHANGES                      all went well, after so many key exchanges
"""

import asyncio
import getpass
import sys
import warnings

warnings.simplefilter("ignore")

import asyncssh  # noqa: E402
from asyncssh import connection, encryption  # noqa: E402

# Enough for several key exchanges with REKEY below.
BULK = bytes(i * 7 & 255 for i in range(300_000))
REKEY = 100_000


def ask(*words):
    print(*words, flush=True)
    return sys.stdin.readline().strip()


def word(data):
    return data.hex() or "-"


class Theirs(encryption.Encryption):
    """One direction under one set of keys, done by whoever answers."""

    count = 0

    def __init__(self, cipher, key, iv, mac, mac_key, tag):
        Theirs.count += 1
        self.name = str(Theirs.count)
        self.tag = tag
        answer = ask(
            "key", self.name, cipher, mac or "-", word(key), word(iv), word(mac_key)
        )
        assert answer == "ok", answer

    def encrypt_packet(self, seq, header, packet):
        sealed = bytes.fromhex(ask("seal", self.name, seq, word(header + packet)))
        end = len(sealed) - self.tag
        return sealed[:end], sealed[end:]

    def decrypt_header(self, seq, first_block, header_len):
        length = int(ask("length", self.name, seq, word(first_block)))
        return first_block, length.to_bytes(4, "big")

    def decrypt_packet(self, seq, first, rest, header_len, mac):
        answer = ask("open", self.name, seq, word(first + rest + mac))
        return None if answer == "refused" else bytes.fromhex(answer)[header_len:]


def get_encryption(cipher, key, iv, mac=b"", mac_key=b"", etm=False):
    # asyncssh names an AEAD as its own MAC.
    mac = b"" if mac == cipher else mac
    tag = encryption.get_encryption_params(cipher, mac)[4]
    return Theirs(cipher.decode(), key, iv, mac.decode(), mac_key, tag)


async def session(directory, cipher, mac, command):
    async with asyncssh.connect(
        "localhost",
        username=getpass.getuser(),
        client_keys=[directory + "/user"],
        known_hosts=None,
        config=None,
        agent_path=None,
        proxy_command=command,
        encryption_algs=[cipher],
        mac_algs=[mac] if mac != "-" else (),
        compression_algs=["none"],
        rekey_bytes=REKEY,
    ) as ssh:
        echo = await ssh.run("cat", input=BULK, encoding=None)
        assert echo.stdout == BULK, "sshd echoed something else"


connection.get_encryption = get_encryption
asyncio.run(session(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
print("done", Theirs.count // 2, flush=True)
