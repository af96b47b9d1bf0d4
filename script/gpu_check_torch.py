"""gpu_check_torch.py OUT.json: times PyTorch's eager training steps of the models that gpu_check
times, in true f32, and reads its peaks of memory. Models are torchvision's, or left out without it.
"""

import json
import statistics
import sys
import time

import torch

MODELS = ("resnet18", "resnet50", "alexnet")
BATCHES = (32, 128)
STEPS = 12


def measure(model_name, batch, channels_last):
    import torchvision

    torch.manual_seed(0)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model = getattr(torchvision.models, model_name)(weights=None).cuda().to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=layout)
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(STEPS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    result = {
        "model": model_name,
        "batch": batch,
        "channels_last": channels_last,
        "seconds": statistics.median(seconds[1:]),
        "peak_allocated": torch.cuda.max_memory_allocated(),
        "peak_reserved": torch.cuda.max_memory_reserved(),
    }
    del model, optimizer, x, labels
    torch.cuda.empty_cache()
    return result


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    results = []
    for model_name in MODELS:
        for batch in BATCHES:
            for channels_last in (False, True):
                results.append(measure(model_name, batch, channels_last))
                print(results[-1], flush=True)
    out = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0), "results": results}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=2)


if __name__ == "__main__":
    main()
