"""Writes order.json: the order of examples and the held-out sums for a few
seeds, from a second implementation in plain Python integers.

    python3 order.py > order.json
"""

import json

M32, M64 = 2**32 - 1, 2**64 - 1


def block(key, lo, hi):
    """Philox4x32-10 as in Salmon et al., SC 2011, as two 64-bit words."""
    k = [key & M32, key >> 32]
    c = [lo & M32, lo >> 32, hi & M32, hi >> 32]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & M32, p0 >> 32 ^ c[3] ^ k[1], p0 & M32]
        k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
    return c[0] | c[1] << 32, c[2] | c[3] << 32


def stream(seed, purpose):
    return block(seed, purpose, M64)[0]


def below(key, n, lo, hi):
    return block(key, lo, hi)[0] * n >> 64


def permutation(key, n, number):
    p = list(range(n))
    for i in range(n - 1, 0, -1):
        j = below(key, i + 1, i, number)
        p[i], p[j] = p[j], p[i]
    return p


def order(seed, n, epoch):
    return {"seed": seed, "n": n, "epoch": epoch,
            "shuffled": permutation(stream(seed, 1), n, epoch),
            "sampled": [below(stream(seed, 1), n, i, 0) for i in range(epoch * n, epoch * n + n)]}


def held_out(seed, want):
    pairs = [(x, y) for x in range(100) for y in range(x, 100)]
    held = set()
    for i in permutation(stream(seed, 2), len(pairs), 0):
        if len(held) >= want:
            break
        x, y = pairs[i]
        held |= {(x, y), (y, x)}
    return {"seed": seed, "want": want, "pairs": sorted(held)}


print(json.dumps({
    "orders": [order(0, 7, 0), order(1, 10, 0), order(1, 10, 3), order(M64, 33, 2), order(2**40 + 5, 1, 4)],
    "held_out": [held_out(0, 1), held_out(1, 20), held_out(7, 101), held_out(2**63, 1000)],
}))
