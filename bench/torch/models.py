"""The models of bench/cases in plain eager PyTorch."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    hidden: int
    context: int
    batch: int


CONFIGS = {
    "gqa-toy": Config(256, 256, 4, 8, 2, 32, 704, 128, 16),
    "gqa-small": Config(4096, 512, 8, 8, 2, 64, 1408, 256, 8),
}


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary_tables(context, head_width, base=10000.0):
    inverse = base ** (-torch.arange(0, head_width, 2).float() / head_width)
    angles = torch.arange(context).float()[:, None] * inverse[None]
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """x: (B, H, T, d), in pairs split by half."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Attention(nn.Module):
    """One matrix for q, k and v; the query heads of a group folded into rows, so
    that each key/value head is one product. The fastest eager form found."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        q, kv = c.heads * c.head_width, c.kv_heads * c.head_width
        self.sizes = (q, kv, kv)
        self.wqkv, self.wo = nn.Linear(c.width, q + 2 * kv, bias=False), nn.Linear(q, c.width, bias=False)

    def qkv(self, x):
        B, T, _ = x.shape
        return (t.view(B, T, -1, self.c.head_width).transpose(1, 2) for t in self.wqkv(x).split(self.sizes, -1))

    def attend(self, q, k, v, mask):
        c = self.c
        B, H, T, d = q.shape
        S, group = k.shape[2], H // c.kv_heads
        scores = torch.matmul(q.reshape(B, c.kv_heads, group * T, d), k.transpose(-1, -2)) * (1.0 / math.sqrt(d))
        if mask is not None:
            scores = (scores.view(B, c.kv_heads, group, T, S) + mask).view(B, c.kv_heads, group * T, S)
        out = torch.matmul(torch.softmax(scores, -1), v).view(B, H, T, d)
        return self.wo(out.transpose(1, 2).reshape(B, T, H * d))

    def forward(self, x, cos, sin, mask):
        q, k, v = self.qkv(x)
        return self.attend(rotate(q, cos, sin), rotate(k, cos, sin), v, mask)


class SwiGLU(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_up, self.down = nn.Linear(c.width, 2 * c.hidden, bias=False), nn.Linear(c.hidden, c.width, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1, self.norm2, self.attention, self.mlp = RMSNorm(c.width), RMSNorm(c.width), Attention(c), SwiGLU(c)

    def forward(self, x, cos, sin, mask):
        x = x + self.attention(self.norm1(x), cos, sin, mask)
        return x + self.mlp(self.norm2(x))


class GQA(nn.Module):
    def __init__(self, c, context):
        super().__init__()
        self.c = c
        self.embedding, self.norm = nn.Embedding(c.vocab, c.width), RMSNorm(c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.head = nn.Linear(c.width, c.vocab, bias=False)
        self.cos, self.sin = rotary_tables(context, c.head_width)
        self.mask = torch.full((context, context), float("-inf")).triu(1)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids, targets):
        T = ids.shape[1]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.cos[:T], self.sin[:T], self.mask[:T, :T])
        return F.cross_entropy(self.head(self.norm(x)).view(-1, self.c.vocab), targets.view(-1))

    @torch.inference_mode()
    def generate(self, count):
        """Greedy, batch 1, with a cache of keys and values that has room for all."""
        c = self.c
        keys, values = ([torch.empty(1, c.kv_heads, count, c.head_width) for _ in self.blocks] for _ in range(2))
        token = torch.zeros(1, 1, dtype=torch.long)
        for t in range(count):
            cos, sin = self.cos[t:t + 1], self.sin[t:t + 1]
            x = self.embedding(token)
            for block, key, value in zip(self.blocks, keys, values):
                q, k, v = block.attention.qkv(block.norm1(x))
                key[:, :, t:t + 1] = rotate(k, cos, sin)
                value[:, :, t:t + 1] = v
                x = x + block.attention.attend(rotate(q, cos, sin), key[:, :, :t + 1], value[:, :, :t + 1], None)
                x = x + block.mlp(block.norm2(x))
            token = self.head(self.norm(x)).argmax(-1)
        return token


class VisionBlock(nn.Module):
    def __init__(self, width=192, heads=3, hidden=768):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        p = torch.softmax(q @ k.transpose(-1, -2) * (1.0 / math.sqrt(D // self.heads)), -1)
        x = x + self.out((p @ v).transpose(1, 2).reshape(B, T, D))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    """A vision transformer on square images, its patches cut by views."""

    def __init__(self, image=32, patch=4, channels=3, width=192, layers=6, classes=10):
        super().__init__()
        self.grid, self.patch = image // patch, patch
        self.embed = nn.Linear(channels * patch * patch, width)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 1 + self.grid ** 2, width) * 0.02)
        self.blocks, self.norm = nn.Sequential(*(VisionBlock(width) for _ in range(layers))), nn.LayerNorm(width)
        self.classifier = nn.Linear(width, classes)

    def forward(self, pixels, labels):
        B, C, _, _ = pixels.shape
        g, p = self.grid, self.patch
        patches = pixels.view(B, C, g, p, g, p).permute(0, 2, 4, 1, 3, 5).reshape(B, g * g, C * p * p)
        x = torch.cat([self.class_token.expand(B, -1, -1), self.embed(patches)], 1) + self.positions
        return F.cross_entropy(self.classifier(self.norm(self.blocks(x))[:, 0]), labels)


class SmallAttention(nn.Module):
    """Grouped-query attention of 4 projections with biases, without rotary."""

    def __init__(self, width, heads, kv_heads, tokens):
        super().__init__()
        self.kv_heads, self.head_width = kv_heads, width // heads
        kv_width = kv_heads * self.head_width
        self.wq, self.wk = nn.Linear(width, width), nn.Linear(width, kv_width)
        self.wv, self.wo = nn.Linear(width, kv_width), nn.Linear(width, width)
        self.mask = torch.full((tokens, tokens), float("-inf")).triu(1)

    def forward(self, x):
        B, T, D = x.shape
        K, d = self.kv_heads, self.head_width
        q = self.wq(x).view(B, T, K, -1, d).permute(0, 2, 3, 1, 4)
        k = self.wk(x).view(B, T, K, 1, d).permute(0, 2, 3, 4, 1)
        v = self.wv(x).view(B, T, K, 1, d).permute(0, 2, 3, 1, 4)
        p = torch.softmax(torch.matmul(q, k) * (1.0 / math.sqrt(d)) + self.mask, -1)
        return self.wo(torch.matmul(p, v).permute(0, 3, 1, 2, 4).reshape(B, T, D))
