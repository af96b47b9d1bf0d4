#!/usr/bin/env python3
"""Makes a folder of reference cases for numeric_check with PyTorch.

    generate_cases.py FOLDER

writes FOLDER/cases.json and one folder of .npy files per net of hard_cases.py. PyTorch 1.13 and numpy
are all it needs (Debian 12: python3-torch; run it with /usr/bin/python3). Results repeat on one
machine; another may round the last bits otherwise, well inside the limits.

Each case runs twice, in float32 and, from the same float32 start cast up, in float64, on one thread:
  step 1: forward, mean cross-entropy, backward; logits, loss, activations, all gradients and the
          running statistics after it are kept; SGD update;
  step 2: the same batch; parameters and running statistics after it are kept;
  then the loss of one more forward pass in the same mode.
SGD: g += weight_decay * p; buf = g at first, else buf = momentum * buf + g; p -= lr * buf, on every
parameter.

Rounding must not decide a branch: seeds are tried until, in all three forward passes, no ReLU input
is within MARGIN of a kink and no max-pool window has two different candidates closer than it. Seeds at
which float32 loses more than HEADROOM of a tensor's largest value against float64 are passed over too.
"""

import json
import os
import sys

import numpy
import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True
from hard_cases import CASES  # noqa: E402

MARGIN = 5e-5
HEADROOM = 3e-6
SGD = {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4, "dampening": 0, "nesterov": False}


class Kinks:
    """The smallest distances seen to a point where a branch would go the other way."""

    def __init__(self):
        self.relu = float("inf")
        self.max_pool = float("inf")

    def at_relu(self, x, *points):
        # Exact zeros are sums of zeros and stay so however one rounds.
        x = x.detach()[x != 0]
        for point in points if x.numel() else ():
            self.relu = min(self.relu, (x - point).abs().min().item())

    def at_max_pool(self, x, entry):
        pad = pair(entry.get("padding", 0))
        kernel, stride = pair(entry["kernel"]), pair(entry.get("stride", entry["kernel"]))
        # Room for ceil_mode's last window too; -inf never competes.
        x = F.pad(x, (pad[1], pad[1] + stride[1], pad[0], pad[0] + stride[0]), value=-float("inf"))
        windows = x.unfold(2, kernel[0], stride[0]).unfold(3, kernel[1], stride[1])
        windows = windows.reshape(*windows.shape[:4], -1)
        gaps = windows.max(-1, keepdim=True).values - windows
        gaps = gaps[torch.isfinite(gaps) & (gaps > 0)]
        if gaps.numel():
            self.max_pool = min(self.max_pool, gaps.min().item())

    def worst(self):
        return min(self.relu, self.max_pool)


def pair(value):
    return list(value) if isinstance(value, (list, tuple)) else [value, value]


def apply(entry, inputs, weights, buffers, training, kinks):
    x, op = inputs[0], entry["op"]
    own = entry.get("weights", entry["name"])
    weight, bias = weights.get(own + ".weight"), weights.get(own + ".bias")
    if op == "conv2d":
        return F.conv2d(x, weight, bias, pair(entry.get("stride", 1)), pair(entry.get("padding", 0)),
                        pair(entry.get("dilation", 1)), entry.get("groups", 1))
    if op == "linear":
        return F.linear(x, weight, bias)
    if op == "batch_norm":
        return F.batch_norm(x, buffers[own + ".running_mean"], buffers[own + ".running_var"], weight,
                            bias, training, entry["momentum"], entry["eps"])
    if op == "lrn":
        return F.local_response_norm(x, entry["size"], entry["alpha"], entry["beta"], entry["k"])
    if op == "relu":
        kinks.at_relu(x, 0)
        return F.relu(x)
    if op == "relu6":
        kinks.at_relu(x, 0, 6)
        return F.relu6(x)
    if op == "max_pool":
        kinks.at_max_pool(x.detach(), entry)
        return F.max_pool2d(x, entry["kernel"], entry.get("stride", entry["kernel"]),
                            entry.get("padding", 0), ceil_mode=entry.get("ceil_mode", False))
    if op == "avg_pool":
        return F.avg_pool2d(x, entry["kernel"], entry.get("stride", entry["kernel"]),
                            entry.get("padding", 0), entry.get("ceil_mode", False),
                            entry.get("count_include_pad", True))
    if op == "adaptive_avg_pool":
        return F.adaptive_avg_pool2d(x, entry["output_size"])
    if op == "dropout":
        assert entry["p"] == 0 or not training, "another library draws another mask"
        return F.dropout(x, entry["p"], training)
    if op == "flatten":
        return x.flatten(1)
    if op == "add":
        return x + inputs[1]
    if op == "concat":
        return torch.cat(inputs, entry.get("axis", 1))
    raise ValueError(op)


def forward(net, x, weights, buffers, kinks):
    tensors = {"x": x}
    for entry in net["layers"]:
        inputs = [tensors[name] for name in entry["in"]]
        tensors[entry["name"]] = apply(entry, inputs, weights, buffers,
                                       net.get("mode", "train") == "train", kinks)
    return tensors


def start(net, seed):
    """Parameters and running statistics, found by walking the net; sizes follow from the inputs."""
    torch.manual_seed(seed)
    x = torch.randn(net["batch"], *net["input"])
    labels = torch.randint(0, net["classes"], (net["batch"],))
    weights, buffers, tensors = {}, {}, {"x": x}
    for entry in net["layers"]:
        name, source = entry["name"], tensors[entry["in"][0]]
        if entry["op"] in ("conv2d", "linear") and "weights" not in entry:
            if entry["op"] == "conv2d":
                shape = [entry["out_channels"], source.shape[1] // entry.get("groups", 1),
                         *pair(entry["kernel"])]
                entry["in_channels"] = source.shape[1]
            else:
                shape = [entry["out_features"], source.shape[1]]
                entry["in_features"] = source.shape[1]
            bound = (3.0 / numpy.prod(shape[1:])) ** 0.5
            weights[name + ".weight"] = (torch.rand(shape) * 2 - 1) * bound
            if entry.get("bias", True):
                weights[name + ".bias"] = torch.rand(shape[0]) - 0.5
        if entry["op"] == "batch_norm":
            channels = entry["channels"] = source.shape[1]
            weights[name + ".weight"] = torch.rand(channels) + 0.5
            weights[name + ".bias"] = torch.rand(channels) - 0.5
            buffers[name + ".running_mean"] = torch.randn(channels) * 0.3
            buffers[name + ".running_var"] = torch.rand(channels) + 0.5
        inputs = [tensors[name] for name in entry["in"]]
        copies = {key: value.clone() for key, value in buffers.items()}
        tensors[name] = apply(entry, inputs, weights, copies,
                              net.get("mode", "train") == "train", Kinks())
        entry["output_shape"] = list(tensors[name].shape)
    return x, labels, weights, buffers


def run(net, x, labels, weights, buffers, dtype):
    """The protocol of the head of this file; returns tensors by file name stem, losses, kinks."""
    kinks, kept, losses = Kinks(), {}, []
    x = x.to(dtype).requires_grad_()
    weights = {name: value.to(dtype).clone().requires_grad_() for name, value in weights.items()}
    buffers = {name: value.to(dtype).clone() for name, value in buffers.items()}
    momentum = {}
    for step in (1, 2):
        tensors = forward(net, x, weights, buffers, kinks)
        loss = F.cross_entropy(tensors[net["layers"][-1]["name"]], labels)
        losses.append(loss.item())
        gradients = dict(zip(["x", *weights],
                             torch.autograd.grad(loss, [x, *weights.values()])))
        if step == 1:
            kept["loss"] = loss.detach().reshape(1)
            kept["logits"] = tensors[net["layers"][-1]["name"]].detach().clone()
            kept["input_grad"] = gradients["x"]
            for name in weights:
                kept["grad." + name] = gradients[name]
            for entry in net["layers"]:
                kept["act." + entry["name"]] = tensors[entry["name"]].detach().clone()
        with torch.no_grad():
            for name, value in weights.items():
                gradient = gradients[name] + SGD["weight_decay"] * value
                if name in momentum:
                    momentum[name] = SGD["momentum"] * momentum[name] + gradient
                else:
                    momentum[name] = gradient
                value -= SGD["lr"] * momentum[name]
        for name, value in buffers.items():
            kept["after%d.%s" % (step, name)] = value.clone()
    for name, value in weights.items():
        kept["after2." + name] = value.detach().clone()
    with torch.no_grad():
        copies = {name: value.clone() for name, value in buffers.items()}
        tensors = forward(net, x, weights, copies, kinks)
        losses.append(F.cross_entropy(tensors[net["layers"][-1]["name"]], labels).item())
    return kept, losses, kinks


def difference(narrow, wide):
    """The worst difference relative to a tensor's largest value; zeros up to rounding left out."""
    kinds = {}
    for name in wide:
        kinds.setdefault(name.split(".")[0], []).append(name)
    worst = 0
    for names in kinds.values():
        floor = 1e-6 * max(wide[name].abs().max().item() for name in names)
        for name in names:
            scale = wide[name].abs().max().item()
            if scale > floor:
                worst = max(worst, (narrow[name].double() - wide[name]).abs().max().item() / scale)
    return worst


def make_case(function, folder):
    for seed in range(1, 10000):
        net = function()
        x, labels, weights, buffers = start(net, seed)
        narrow, losses_f32, _ = run(net, x, labels, weights, buffers, torch.float32)
        wide, losses_f64, kinks = run(net, x, labels, weights, buffers, torch.float64)
        if kinks.worst() >= MARGIN and difference(narrow, wide) <= HEADROOM:
            break
    else:
        raise RuntimeError("no seed keeps %s away from its kinks" % function.__name__)

    os.makedirs(folder, exist_ok=True)
    files = {"params": {}, "buffers": {}, "activations_f64": {}}

    def save(stem, tensor):
        numpy.save(os.path.join(folder, stem + ".npy"), tensor.detach().numpy())
        return stem + ".npy"

    def both(entry, key, stem, suffix=""):
        for dtype, kept in (("f32", narrow), ("f64", wide)):
            entry["%s_%s" % (key, dtype)] = save("%s_%s%s" % (key, dtype, suffix), kept[stem])

    files["input"], files["labels"] = save("input", x), save("labels", labels)
    for name, value in weights.items():
        entry = files["params"][name] = {"shape": list(value.shape),
                                         "init": save("init." + name, value)}
        both(entry, "grad", "grad." + name, "." + name)
        both(entry, "after2", "after2." + name, "." + name)
    for name, value in buffers.items():
        entry = files["buffers"][name] = {"shape": list(value.shape),
                                          "init": save("init." + name, value)}
        both(entry, "after1", "after1." + name, "." + name)
        both(entry, "after2", "after2." + name, "." + name)
    for entry in net["layers"]:
        stem = "act." + entry["name"]
        files["activations_f64"][entry["name"]] = save(stem, wide[stem])
    for key in ("logits", "loss", "input_grad"):
        both(files, key, key)

    print("%-18s seed %4d, kinks %.1e, float32 against float64 %.1e, %d files" % (
        function.__name__, seed, kinks.worst(), difference(narrow, wide), len(os.listdir(folder))))
    return {
        "about": " ".join(function.__doc__.split()),
        "mode": net.get("mode", "train"), "seed": seed, "batch": net["batch"],
        "input_shape": [net["batch"], *net["input"]], "classes": net["classes"],
        "labels": labels.tolist(), "parameters": sum(w.numel() for w in weights.values()),
        "layers": net["layers"], "losses_f32": losses_f32, "losses_f64": losses_f64,
        "kink_margin": {"relu_input_min_abs_f64": kinks.relu,
                        "max_pool_min_nonzero_gap_f64": kinks.max_pool},
        "files": files}


def finite(value):
    """JSON has no infinity: a kink that is nowhere is null."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return None if value == float("inf") else value


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    torch.set_num_threads(1)
    protocol = " ".join(" ".join(__doc__.split("\n\n")[3:5]).split())
    document = {
        "versions": {"torch": torch.__version__, "numpy": numpy.__version__, "threads": 1},
        "protocol": protocol,
        "sgd": SGD,
        "cases": {function.__name__: make_case(function, os.path.join(sys.argv[1], function.__name__))
                  for function in CASES}}
    with open(os.path.join(sys.argv[1], "cases.json"), "w") as file:
        json.dump(finite(document), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
