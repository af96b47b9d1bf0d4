"""The nets of tests/data/numeric_more, one function each; what is hard about it is its docstring.

A net is a dict: batch, input (shape per sample), classes, mode ("train" unless it says "eval") and
layers as cases.json has them, less the sizes that follow from the inputs.
"""


def layer(op, name, *inputs, **keys):
    return {"name": name, "op": op, "in": list(inputs), **keys}


def conv(name, source, channels, kernel, **keys):
    return layer("conv2d", name, source, out_channels=channels, kernel=kernel, **keys)


def lrn_even():
    """Windows of even size, wider than the channels there are, across rectangular maps."""
    return dict(batch=3, input=[3, 9, 7], classes=5, layers=[
        conv("conv1", "x", 6, [3, 2], stride=[2, 1], padding=[1, 0]),
        layer("relu", "relu1", "conv1"),
        layer("lrn", "lrn1", "relu1", size=4, alpha=0.7, beta=0.6, k=1.5),
        conv("conv2", "lrn1", 3, [2, 3], padding=[0, 1]),
        layer("lrn", "lrn2", "conv2", size=8, alpha=2.0, beta=0.75, k=1.0),
        layer("lrn", "lrn3", "lrn2", size=2, alpha=0.3, beta=1.3, k=0.5),
        layer("lrn", "lrn4", "lrn3", size=1, alpha=0.5, beta=0.5, k=2.0),
        layer("flatten", "flat", "lrn4"),
        layer("linear", "fc", "flat", out_features=5)])


def adaptive_bins():
    """Bins that overlap, that repeat a row (more bins than rows), and one bin for all."""
    return dict(batch=2, input=[2, 11, 7], classes=4, layers=[
        conv("conv1", "x", 5, 3, padding=1),
        layer("adaptive_avg_pool", "bins1", "conv1", output_size=[7, 5]),
        layer("relu", "relu1", "bins1"),
        conv("conv2", "relu1", 6, [1, 3], padding=[0, 1]),
        layer("adaptive_avg_pool", "bins2", "conv2", output_size=[9, 3]),
        layer("relu6", "relu2", "bins2"),
        layer("adaptive_avg_pool", "bins3", "relu2", output_size=[2, 3]),
        layer("adaptive_avg_pool", "row", "relu2", output_size=[1, 2]),
        layer("flatten", "flat3", "bins3"),
        layer("flatten", "flat_row", "row"),
        layer("concat", "both", "flat3", "flat_row", axis=1),
        layer("linear", "fc", "both", out_features=4, bias=False)])


def pool_edges():
    """ceil_mode's dropped last window, divisors at padded edges both ways, windows with gaps."""
    return dict(batch=4, input=[3, 14, 11], classes=6, layers=[
        layer("max_pool", "max0", "x", kernel=[2, 3], stride=[3, 2], padding=[1, 1], ceil_mode=True),
        conv("conv1", "x", 4, 2, stride=1),
        layer("max_pool", "max1", "conv1", kernel=2, stride=3, padding=1, ceil_mode=True),
        layer("avg_pool", "avg1", "conv1", kernel=[3, 4], stride=[2, 3], padding=[1, 2],
              ceil_mode=True, count_include_pad=True),
        layer("avg_pool", "avg2", "conv1", kernel=[3, 4], stride=[2, 3], padding=[1, 2],
              ceil_mode=True, count_include_pad=False),
        layer("avg_pool", "avg3", "conv1", kernel=[4, 2], stride=[3, 1], padding=[2, 1],
              ceil_mode=False, count_include_pad=True),
        layer("add", "sum", "avg1", "avg2"),
        layer("avg_pool", "avg4", "sum", kernel=2, stride=3, padding=1, ceil_mode=True,
              count_include_pad=False),
        layer("max_pool", "max2", "avg3", kernel=3, stride=1, padding=0, ceil_mode=False),
        layer("flatten", "f0", "max0"), layer("flatten", "f1", "max1"),
        layer("flatten", "f2", "avg4"), layer("flatten", "f3", "max2"),
        layer("concat", "all", "f0", "f1", "f2", "f3", axis=1),
        layer("linear", "fc", "all", out_features=6)])


def dilated_groups():
    """Dilation with groups, depthwise with a multiplier, everything rectangular; a tensor that is
    added to itself and concatenated with itself."""
    return dict(batch=3, input=[4, 13, 10], classes=3, layers=[
        conv("conv1", "x", 6, [3, 2], stride=[1, 2], padding=[2, 1], dilation=[2, 3], groups=2),
        layer("relu6", "relu1", "conv1"),
        conv("depthwise", "relu1", 12, [2, 3], stride=[2, 1], padding=[0, 2], dilation=[3, 2],
             groups=6, bias=False),
        layer("relu", "relu2", "depthwise"),
        layer("add", "twice", "relu2", "relu2"),
        layer("concat", "pair", "relu2", "twice", "relu2", axis=1),
        conv("grouped", "pair", 9, 1, stride=[2, 1], groups=3),
        layer("relu", "relu3", "grouped"),
        conv("wide", "relu3", 4, [3, 5], padding=[2, 4], stride=[3, 2], dilation=[1, 2]),
        layer("flatten", "flat", "wide"),
        layer("linear", "fc", "flat", out_features=3)])


def batch_norm_train():
    """Other momentum and eps, statistics that don't start at 0 and 1, a bias in front of batch norm
    (true gradient 0), a normalised tensor with several readers, batch norm on 1x1 maps."""
    return dict(batch=5, input=[2, 8, 9], classes=4, layers=[
        conv("conv1", "x", 5, 3, padding=1),
        layer("batch_norm", "bn1", "conv1", eps=1e-2, momentum=0.3),
        layer("relu", "relu1", "bn1"),
        layer("add", "both", "bn1", "relu1"),
        conv("conv2", "both", 6, 3, stride=2, bias=False),
        layer("batch_norm", "bn2", "conv2", eps=1e-3, momentum=0.9),
        layer("relu6", "relu2", "bn2"),
        layer("adaptive_avg_pool", "gap", "relu2", output_size=[1, 1]),
        conv("conv3", "gap", 7, 1, bias=False),
        layer("batch_norm", "bn3", "conv3", eps=0.1, momentum=0.05),
        layer("flatten", "flat", "bn3"),
        layer("linear", "fc", "flat", out_features=4)])


def batch_norm_eval():
    """Running statistics normalise; dropout is the identity whatever its p; a residual block."""
    return dict(batch=4, mode="eval", input=[3, 10, 7], classes=5, layers=[
        layer("batch_norm", "bn0", "x", eps=1e-3, momentum=0.2),
        conv("conv1", "bn0", 6, 3, stride=[1, 2], padding=1, bias=False),
        layer("batch_norm", "bn1", "conv1", eps=1e-5, momentum=0.1),
        layer("relu", "relu1", "bn1"),
        conv("conv2", "relu1", 6, 3, padding=1),
        layer("batch_norm", "bn2", "conv2", eps=1e-2, momentum=0.5),
        layer("add", "add1", "bn2", "relu1"),
        layer("relu", "relu2", "add1"),
        layer("dropout", "drop1", "relu2", p=0.4),
        layer("max_pool", "pool", "drop1", kernel=3, stride=2, padding=1),
        layer("flatten", "flat", "pool"),
        layer("dropout", "drop2", "flat", p=0.5),
        layer("linear", "fc", "drop2", out_features=5)])


def one_sample():
    """A batch of one, kernels as large as the padded input, strides beyond the kernel, ReLU on the
    samples themselves, two classes, linear without bias."""
    return dict(batch=1, input=[2, 7, 5], classes=2, layers=[
        layer("relu", "relu0", "x"),
        layer("add", "add0", "x", "relu0"),
        conv("strided", "add0", 3, 1, stride=[3, 2], padding=1),
        layer("relu", "relu1", "strided"),
        conv("whole", "relu1", 8, [3, 4], bias=False),
        layer("max_pool", "pool", "whole", kernel=1, stride=1),
        layer("flatten", "flat", "pool"),
        layer("linear", "fc1", "flat", out_features=6, bias=False),
        layer("relu", "relu2", "fc1"),
        layer("dropout", "drop", "relu2", p=0.0),
        layer("linear", "fc2", "drop", out_features=2)])


def shared_weights():
    """One convolution and one linear layer applied twice each: gradients of both uses add up."""
    return dict(batch=6, input=[3, 8, 8], classes=4, layers=[
        conv("conv", "x", 3, 3, padding=1),
        layer("relu", "relu1", "conv"),
        {**conv("again", "relu1", 3, 3, padding=1), "weights": "conv"},
        layer("relu", "relu2", "again"),
        layer("avg_pool", "pool", "relu2", kernel=4),
        layer("flatten", "flat", "pool"),
        layer("linear", "fc", "flat", out_features=12),
        layer("relu", "relu3", "fc"),
        {**layer("linear", "fc_again", "relu3", out_features=12), "weights": "fc"},
        layer("linear", "head", "fc_again", out_features=4)])


def branches():
    """Many readers of one tensor, in and out of place, on both sides of ReLU; a batch of seven."""
    return dict(batch=7, input=[3, 9, 9], classes=3, layers=[
        conv("stem", "x", 4, 3, stride=2),
        layer("relu", "stem_relu", "stem"),
        conv("a", "stem", 4, 1),
        layer("relu", "a_relu", "a"),
        conv("b", "stem_relu", 4, 3, padding=1, groups=4),
        layer("max_pool", "c", "stem_relu", kernel=3, stride=1, padding=1),
        layer("avg_pool", "d", "stem", kernel=3, stride=1, padding=1, count_include_pad=False),
        layer("add", "sum", "a_relu", "b"),
        layer("relu6", "sum_relu", "sum"),
        layer("add", "sum2", "sum", "sum_relu"),
        layer("concat", "cat", "c", "sum2", "d", "stem_relu", axis=1),
        layer("lrn", "lrn", "cat", size=5, alpha=0.1, beta=0.75, k=2.0),
        conv("mix", "lrn", 5, 2, stride=2),
        layer("flatten", "flat", "mix"),
        layer("linear", "fc", "flat", out_features=3)])


CASES = [lrn_even, adaptive_bins, pool_edges, dilated_groups, batch_norm_train, batch_norm_eval,
         one_sample, shared_weights, branches]
