"""PyTorch's side of bench/cases: a step for each case, made from its name."""
import re
import time

import torch
import torch.nn.functional as F

import models


def sizes(text):
    return [int(n) for n in text.split("x")]


def stored(how, *shape):
    """A tensor of a shape over memory that is transposed where how is T."""
    if how == "T":
        return torch.randn(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)
    return torch.randn(*shape)


def matmul(layout, shape):
    m, k, n = sizes(shape)
    a, b, out = stored(layout[0], m, k), stored(layout[1], k, n), torch.empty(m, n)
    return lambda: torch.mm(a, b, out=out)


def batched_matmul(layout, shape):
    batch, m, k, n = sizes(shape)
    a, b, out = stored(layout[0], batch, m, k), stored(layout[1], batch, k, n), torch.empty(batch, m, n)
    return lambda: torch.bmm(a, b, out=out)


def elementwise(function, **options):
    def make(shape):
        x, out = torch.randn(*sizes(shape)), torch.empty(*sizes(shape))
        return lambda: function(x, out=out, **options)
    return make


def reordered(*order):
    def make(shape):
        source = torch.randn(*sizes(shape)).permute(*order)
        out = torch.empty(source.shape)
        return lambda: out.copy_(source)
    return make


def view(shape):
    x = torch.randn(*sizes(shape))
    return lambda: x.view(x.numel())


def add(length):
    a, b, out = torch.randn(int(length)), torch.randn(int(length)), torch.empty(int(length))
    return lambda: torch.add(a, b, out=out)


def gradient(function, shape, *more):
    """Forward and backward of function(x, *more)."""
    x, dy = torch.randn(*sizes(shape), requires_grad=True), torch.randn(*sizes(shape))
    leaves = [x, *(t.requires_grad_() for t in more)]
    return lambda: torch.autograd.grad(function(*leaves), leaves, dy)


def rms_norm(shape):
    def composed(x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
    return gradient(composed, shape, torch.ones(sizes(shape)[-1]))


def layer_norm(shape):
    width = sizes(shape)[-1]
    return gradient(lambda x, w, b: F.layer_norm(x, (width,), w, b), shape, torch.ones(width), torch.zeros(width))


def cross_entropy(shape):
    tokens, vocabulary = sizes(shape)
    logits, targets = torch.randn(tokens, vocabulary, requires_grad=True), torch.randint(0, vocabulary, (tokens,))
    return lambda: torch.autograd.grad(F.cross_entropy(logits, targets), [logits])


def adamw(count, matrices=40, width=250):
    params = [torch.nn.Parameter(torch.randn(int(count) // matrices // width, width)) for _ in range(matrices)]
    for p in params:
        p.grad = torch.randn_like(p)
    return fastest(*(torch.optim.AdamW(params, lr=1e-3, foreach=foreach).step for foreach in (False, True)))


def fastest(*steps):
    """The one of some ways to do the same that takes least time here."""
    def seconds(step):
        step()
        start = time.perf_counter()
        for _ in range(3):
            step()
        return time.perf_counter() - start
    return min(steps, key=seconds)


def attention(name):
    width, heads, kv_heads, tokens = (int(n) for n in re.fullmatch(r"D(\d+)H(\d+)K(\d+)T(\d+)", name).groups())
    layer, x = models.SmallAttention(width, heads, kv_heads, tokens), torch.randn(1, tokens, width)

    def step():
        layer.zero_grad(set_to_none=True)
        layer(x).square().mean().backward()
    return step


def training_step(name):
    if name == "vit-toy":
        model, inputs = models.ViT(), (torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,)))
    else:
        c = models.CONFIGS[name]
        model = models.GQA(c, c.context)
        inputs = [torch.randint(0, c.vocab, (c.batch, c.context)) for _ in range(2)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(*inputs).backward()
        optimizer.step()
    return step


def generate(name, count=256):
    model = models.GQA(models.CONFIGS[name], count)
    return lambda: model.generate(count)


# Groups whose steps need no graph run without one.
FORWARD = {
    "MatMul": matmul, "BatchedMatMul": batched_matmul,
    "Exp": elementwise(torch.exp), "Tanh": elementwise(torch.tanh), "SiLU": elementwise(torch._C._nn.silu),
    "GELU": elementwise(torch._C._nn.gelu), "GELUTanh": elementwise(torch._C._nn.gelu, approximate="tanh"),
    "TransposedCopy": reordered(1, 0), "PermuteHeads": reordered(0, 2, 1, 3), "View": view, "Add": add,
}
TRAINING = {
    "RMSNorm": rms_norm, "LayerNorm": layer_norm, "CrossEntropy": cross_entropy,
    "Softmax": lambda shape: gradient(lambda x: torch.softmax(x, -1), shape),
    "AdamW": adamw, "Attention": attention, "Step": training_step, "Generate": generate,
}

MODELS = ("Step/", "Generate/")


def make(name):
    """The step of a case, and whether it needs a graph."""
    group, *rest = name.split("/")
    return (FORWARD.get(group) or TRAINING[group])(*rest), group in TRAINING
