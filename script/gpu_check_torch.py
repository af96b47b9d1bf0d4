"""Times PyTorch's eager training steps of the models that gpu_check times: true f32 (no TF32), SGD
with momentum, channels-first and -last, with the peaks of memory that PyTorch reports.
"""

import argparse
import json
import statistics
import time

import torch
import torchvision

MODELS = ("resnet18", "resnet50", "alexnet")


def measure(model_name, batch, channels_last, device, steps, side):
    torch.manual_seed(0)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model = getattr(torchvision.models, model_name)(weights=None)
    model = model.to(device).to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.randn(batch, 3, side, side, device=device).to(memory_format=layout)
    labels = torch.randint(0, 1000, (batch,), device=device)
    on_gpu = device == "cuda"
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(steps):
        wait()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
        wait()
        seconds.append(time.perf_counter() - begin)
    free, total = torch.cuda.mem_get_info() if on_gpu else (None, None)
    return {
        "seconds": statistics.median(seconds[1:]),  # the first step loads and plans
        "peak_allocated": torch.cuda.max_memory_allocated() if on_gpu else None,
        "peak_reserved": torch.cuda.max_memory_reserved() if on_gpu else None,
        "device_in_use": total - free if on_gpu else None,
    }


def measured(model_name, batch, channels_last, *rest):
    result = {"model": model_name, "batch": batch, "channels_last": channels_last}
    try:
        result.update(measure(model_name, batch, channels_last, *rest), error=None)
    except RuntimeError as error:  # out of memory
        result.update(seconds=None, peak_allocated=None, peak_reserved=None, device_in_use=None)
        result["error"] = str(error).splitlines()[0]
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="the JSON file")
    parser.add_argument("--rehearsal", action="store_true",
                        help="tiny steps on the processor: says whether this program works")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    if arguments.rehearsal:
        device, models, batches, steps, side = "cpu", ("resnet18", "alexnet"), (2,), 2, 64
    else:
        device, models, batches, steps, side = "cuda", MODELS, (32, 128), 12, 224
    results = []
    for model_name in models:
        for batch in batches:
            for channels_last in (False, True):
                results.append(measured(model_name, batch, channels_last, device, steps, side))
                print(results[-1], flush=True)
    out = {
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "gpu": torch.cuda.get_device_name(0) if device == "cuda" else None,
        "results": results,
    }
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
