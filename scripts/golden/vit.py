"""Reference vision transformer with fewer key/value heads than query heads, images and patches that are no squares, and positions
interpolated to another grid. Usage: vit.py SEED OUTDIR"""
import json, os, sys
import torch, torch.nn.functional as F
import models, stio

CONFIG = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, intermediate_size=40,
              image_size=[8, 12], patch_size=[4, 3], num_channels=2, layer_norm_eps=1e-6)
LABELS = ["circle", "square", "star", "cross"]
OTHER = [16, 6]  # another image size: a grid of 4x2 instead of 2x4

def grid(c, size): return [s // p for s, p in zip(size, c["patch_size"])]

def vit(w, c, img):
    D, H, K = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]; d, B = D // H, img.shape[0]
    e = "vit.embeddings."
    x = F.conv2d(img, w[e + "patch_embeddings.projection.weight"], w[e + "patch_embeddings.projection.bias"], stride=c["patch_size"])
    x = torch.cat([w[e + "cls_token"].expand(B, 1, D), x.flatten(2).transpose(1, 2)], 1) + w[e + "position_embeddings"]
    ln = lambda y, n: F.layer_norm(y, (D,), w[n + ".weight"], w[n + ".bias"], c["layer_norm_eps"])
    for i in range(c["num_hidden_layers"]):
        p = f"vit.encoder.layer.{i}."
        lin = lambda n, y: F.linear(y, w[p + n + ".weight"], w[p + n + ".bias"])
        h = ln(x, p + "layernorm_before"); T = h.shape[1]
        q, k, v = [lin("attention.attention." + n, h).view(B, T, -1, d).transpose(1, 2) for n in ("query", "key", "value")]
        k, v = [t.repeat_interleave(H // K, 1) for t in (k, v)]
        a = (q @ k.transpose(-2, -1) / d ** .5).softmax(-1) @ v
        x = x + lin("attention.output.dense", a.transpose(1, 2).reshape(B, T, D))
        x = x + lin("output.dense", F.gelu(lin("intermediate.dense", ln(x, p + "layernorm_after"))))
    hidden = ln(x, "vit.layernorm")
    return hidden, F.linear(hidden[:, 0], w["classifier.weight"], w["classifier.bias"])

def weights(c):
    D, M, L, C = c["hidden_size"], c["intermediate_size"], len(LABELS), c["num_channels"]
    P, (ph, pw), keys = grid(c, c["image_size"]), c["patch_size"], D // c["num_attention_heads"] * c["num_key_value_heads"]
    e, randn = "vit.embeddings.", models.randn
    w = {e + "cls_token": randn(1, 1, D, std=.3), e + "position_embeddings": randn(1, P[0] * P[1] + 1, D, std=.6),
         e + "patch_embeddings.projection.weight": randn(D, C, ph, pw, std=(C * ph * pw) ** -.5), e + "patch_embeddings.projection.bias": randn(D, std=.1),
         "vit.layernorm.weight": 1 + randn(D, std=.1), "vit.layernorm.bias": randn(D, std=.1),
         "classifier.weight": randn(L, D, std=D ** -.5), "classifier.bias": randn(L, std=.1)}
    for i in range(c["num_hidden_layers"]):
        p = f"vit.encoder.layer.{i}."
        for n, o, k in [("attention.attention.query", D, D), ("attention.attention.key", keys, D), ("attention.attention.value", keys, D),
                        ("attention.output.dense", D, D), ("intermediate.dense", M, D), ("output.dense", D, M)]:
            w[p + n + ".weight"] = randn(o, k, std=k ** -.5); w[p + n + ".bias"] = randn(o, std=.1)
        for n in ("layernorm_before", "layernorm_after"): w[p + n + ".weight"] = 1 + randn(D, std=.1); w[p + n + ".bias"] = randn(D, std=.1)
    return {k: v.float().double() for k, v in w.items()}  # what the file holds

def interpolated(positions, old, new):
    """Positions (1, 1+P, D) for another grid; the class token's stays."""
    D = positions.shape[-1]
    t = positions[:, 1:].reshape(1, *old, D).permute(0, 3, 1, 2)
    t = F.interpolate(t, size=new, mode="bilinear", align_corners=False)
    return torch.cat([positions[:, :1], t.permute(0, 2, 3, 1).reshape(1, -1, D)], 1)

def main(out, c, B=3, steps=6):
    os.makedirs(out, exist_ok=True)
    w, img, other = weights(c), models.randn(B, c["num_channels"], *c["image_size"]), models.randn(B, c["num_channels"], *OTHER)
    tgt = torch.randint(0, len(LABELS), (B,), generator=models.G)
    hidden, logits = vit(w, c, img)
    losses, norms, grads, final = models.train_steps(w, lambda ps: F.cross_entropy(vit(ps, c, img)[1], tgt), steps)
    name = "vit.embeddings.position_embeddings"
    resized = interpolated(w[name], grid(c, c["image_size"]), grid(c, OTHER))
    cfg = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_act": "gelu", "id2label": {str(i): l for i, l in enumerate(LABELS)},
           "label2id": {l: i for i, l in enumerate(LABELS)}, **c}
    json.dump(cfg, open(os.path.join(out, "config.json"), "w"), indent=1)
    stio.save(os.path.join(out, "model.safetensors"), {k: v.float() for k, v in w.items()}, {"format": "pt"})
    stio.save(os.path.join(out, "expect.safetensors"), {
        "pixel_values": img, "targets": tgt, "hidden": hidden, "logits": logits, **{"grad." + k: v for k, v in grads.items()},
        **{"after." + k: v.float() for k, v in final.items() if "layer.0." in k or "embeddings" in k},
        "resized.pixel_values": other, "resized.positions": resized, "resized.logits": vit({**w, name: resized}, c, other)[1]})
    json.dump({"loss": losses[0], "adamw": {"lr": 1e-2, "betas": [.9, .95], "eps": 1e-8, "weight_decay": .1, "decay": "tensors with 2 or more dims only",
               "clip_grad_norm": 1., "losses": losses, "grad_norms": norms}}, open(os.path.join(out, "expect.json"), "w"), indent=1)
    print(out, losses[0], losses[-1])

if __name__ == "__main__":
    models.G.manual_seed(int(sys.argv[1]))
    main(sys.argv[2], CONFIG)
