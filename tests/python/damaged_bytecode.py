"""Bytecode files with something wrong: cut short, bytes changed, pieces lost or doubled.

``damaged`` makes them of a good file. Half of them are sealed again, size and checksum being right, so that what is wrong is
left to the reader and the verifier to find; such a file may even be legal.

Run by hand, this tries many on every command that takes a bytecode file:

    python tests/python/damaged_bytecode.py --count 2000
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted((ROOT / "tests" / "bytecode" / "golden").glob("*/*.tvbc"))
# What every error about a file says: where in it.
OFFSET = re.compile(r"byte 0x[0-9a-f]+: ")

_HEADER_BYTES = 32
_CRC_OFFSET = 12
_SIZE_OFFSET = 16


class Damage(NamedTuple):
    """A file, what was done to it, and whether its size and checksum are right all the same."""

    content: bytes
    what: str
    is_sealed: bool


def _crc32c_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc32c_table()


def sealed(content: bytes) -> bytes:
    """The file with its size and checksum put right."""
    size = len(content).to_bytes(8, "little")
    blank = content[:_CRC_OFFSET] + bytes(4) + size + content[_SIZE_OFFSET + 8 :]
    crc = 0xFFFFFFFF
    for byte in blank:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return blank[:_CRC_OFFSET] + (crc ^ 0xFFFFFFFF).to_bytes(4, "little") + blank[_CRC_OFFSET + 4 :]


def damaged(good: bytes, count: int, seed: int = 0) -> Iterator[Damage]:
    """``count`` ways of damaging a file, the same for each seed."""
    choose = random.Random(seed)
    for i in range(count):
        at = choose.randrange(len(good))
        length = choose.randrange(1, 17)
        kind = choose.choice(("cut", "bit", "byte", "bytes", "lost", "doubled", "zeros"))
        if kind == "cut":
            bad = good[:at]
        elif kind == "bit":
            bad = good[:at] + bytes([good[at] ^ 1 << choose.randrange(8)]) + good[at + 1 :]
        elif kind == "byte":
            bad = good[:at] + bytes([choose.choice((0, 1, 0x7F, 0x80, 0xFF))]) + good[at + 1 :]
        elif kind == "bytes":
            bad = good[:at] + choose.randbytes(length) + good[at + length :]
        elif kind == "lost":
            bad = good[:at] + good[at + length :]
        elif kind == "doubled":
            bad = good[: at + length] + good[at:]
        else:
            bad = good[:at] + bytes(length) + good[at + length :]
        is_sealed = i % 2 == 1 and len(bad) >= _HEADER_BYTES
        bad = sealed(bad) if is_sealed else bad
        if bad != good:
            yield Damage(bad, f"{kind} at {at:#x}, {length} bytes, seed {seed}, number {i}", is_sealed)


def complaint(damage: Damage, code: int, message: str) -> str:
    """What is wrong with a command's answer to a damaged file; empty if nothing is."""
    if code not in (0, 1):
        return f"exit code {code}"
    if "Traceback" in message:
        return "a traceback"
    if code == 0:
        return "" if damage.is_sealed else "damage was not found"
    # What is legal may still not be what the command wants: another number of arguments, say.
    return "" if damage.is_sealed or OFFSET.search(message) else "no offset"


def _commands() -> dict[str, list[str]]:
    tools = ROOT / "build" / "release" / "bin"
    python = [sys.executable, "-m", "trivet"]
    return {
        "trivet-dis": [str(tools / "trivet-dis")],
        "trivet-run": [str(tools / "trivet-run"), "--max-steps", "1000"],
        "trivet verify": [*python, "verify"],
        "trivet dis": [*python, "dis"],
        "trivet run": [*python, "run", "--max-steps", "1000"],
    }


def main() -> int:
    """Tries the commands; exit code 1 if one of them misbehaves."""
    parser = argparse.ArgumentParser(description="Tries damaged bytecode files on every command that reads them.")
    parser.add_argument("--count", type=int, default=200, help="damaged files for each good one and command (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the damage (1)")
    parser.add_argument("--only", default="", help="only commands whose name contains this")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="trivet-damaged-") as folder:
        path = Path(folder) / "damaged.tvbc"
        for name, command in _commands().items():
            if arguments.only not in name:
                continue
            codes: Counter[int] = Counter()
            for good in GOLDEN:
                for damage in damaged(good.read_bytes(), arguments.count, arguments.seed):
                    path.write_bytes(damage.content)
                    done = subprocess.run(
                        [*command, str(path)], capture_output=True, text=True, timeout=60, check=False
                    )
                    codes[done.returncode] += 1
                    wrong = complaint(damage, done.returncode, done.stderr)
                    if wrong:
                        failures += 1
                        print(f"{name}: {good.name}, {damage.what}: {wrong}\n{done.stderr}")
            print(f"{name}: " + ", ".join(f"{n} times exit code {code}" for code, n in sorted(codes.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
