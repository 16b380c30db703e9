"""BLAKE3 in plain Python, for records with wrong content and a correct checksum.

Follows the specification of O'Connor, Aumasson, Neves and Wilcox-O'Hearn (2020): section 2.1 for the
compression function, 2.4 for chunks, 2.5 for the tree.
"""

from struct import pack, unpack

IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
    0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
START, END, PARENT, ROOT = 1, 2, 4, 8
WORD = 0xFFFFFFFF


def rotated(value, bits):
    return (value >> bits) | ((value << (32 - bits)) & WORD)


def compress(chaining, block, counter, flags):
    words = list(unpack("<16I", block.ljust(64, b"\0")))
    state = [*chaining, *IV[:4], counter & WORD, counter >> 32, len(block), flags]
    for turn in range(7):
        for i, (a, b, c, d) in enumerate(COLUMNS + DIAGONALS):
            for x, right, left in ((words[2 * i], 16, 12), (words[2 * i + 1], 8, 7)):
                state[a] = (state[a] + state[b] + x) & WORD
                state[d] = rotated(state[d] ^ state[a], right)
                state[c] = (state[c] + state[d]) & WORD
                state[b] = rotated(state[b] ^ state[c], left)
        if turn < 6:
            words = [words[i] for i in PERMUTATION]
    return [state[i] ^ state[i + 8] for i in range(8)]


def chunk(data, counter, root):
    chaining, blocks = IV, [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
    for i, block in enumerate(blocks):
        flags = (START if i == 0 else 0) | ((END | root) if i == len(blocks) - 1 else 0)
        chaining = compress(chaining, block, counter, flags)
    return chaining


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    # The number of chunks in the left subtree is the largest power of two that leaves at least one byte for the right
    # subtree.
    left = 1 << ((len(data) - 1) // 1024).bit_length() - 1
    halves = tree(data[: 1024 * left], counter, 0) + tree(data[1024 * left :], counter + left, 0)
    return compress(IV, pack("<16I", *halves), 0, PARENT | root)


def digest(data):
    """Returns the digest of `data` in hexadecimal."""
    return pack("<8I", *tree(data, 0, ROOT)).hex()
