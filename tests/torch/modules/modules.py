"""Small modules, each with a point for what reads exported programs. MODULES: name -> a function without arguments that
gives an Example."""

import collections

import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

Example = collections.namedtuple("Example", "module args kwargs dynamic", defaults=({}, None))

MODULES = {}


def example(make):
    MODULES[make.__name__] = make
    return make


def module(forward, **parts):
    """A module of these parameters and modules, whose forward() is `forward(self, …)`."""

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

    Small.forward = forward
    return Small().eval()


def floats(*shape, **form):
    return torch.linspace(-1, 1, max(1, torch.Size(shape).numel())).reshape(shape).to(**form)


@example
def linear_relu():
    return Example(module(lambda self, x: torch.relu(self.fc(x)), fc=nn.Linear(8, 4)), (floats(3, 8),))


@example
def conv_batch_norm():
    parts = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return Example(parts.eval(), (floats(1, 3, 8, 8),))


@example
def dynamic_batch():
    fc = module(lambda self, x: self.fc(x), fc=nn.Linear(8, 4))
    return Example(fc, (floats(4, 8),), {}, {"x": {0: Dim("batch", min=2, max=32)}})


@example
def dynamic_without_bounds():
    fc = module(lambda self, x: self.fc(x), fc=nn.Linear(8, 4))
    return Example(fc, (floats(4, 8),), {}, {"x": {0: Dim("batch")}})


@example
def equal_extents():
    length = Dim("length", min=2, max=64)

    def forward(self, x, mask):
        return self.fc(x * mask.unsqueeze(-1))

    return Example(module(forward, fc=nn.Linear(8, 8)), (floats(2, 6, 8), torch.ones(2, 6)), {},
                   {"x": {1: length}, "mask": {1: length}})


@example
def derived_extent():
    blocks = Dim("blocks", min=2, max=16)

    def forward(self, x):
        return x.reshape(x.shape[0], x.shape[1] // 8, 8).sum(-1)

    return Example(module(forward), (floats(2, 32),), {}, {"x": {1: 8 * blocks}})


@example
def sum_of_extents():
    def forward(self, x, y):
        return torch.cat([x, y], 0).cumsum(0)

    return Example(module(forward), (floats(3, 4), floats(5, 4)), {},
                   {"x": {0: Dim("a", min=2, max=9)}, "y": {0: Dim("b", min=2, max=9)}})


@example
def tied_weights():
    embedding = nn.Embedding(16, 8)
    head = nn.Linear(8, 16, bias=False)
    head.weight = embedding.weight
    return Example(module(lambda self, ids: self.head(self.embedding(ids)), embedding=embedding, head=head),
                   (torch.tensor([[1, 2, 3]]),))


@example
def double_precision():
    fc = nn.Linear(8, 4).double()
    return Example(module(lambda self, x: self.fc(x), fc=fc), (floats(3, 8, dtype=torch.float64),))


@example
def int8_input():
    return Example(module(lambda self, x: x.to(torch.float32) * 0.5),
                   (torch.arange(-8, 8, dtype=torch.int8).reshape(2, 8),))


@example
def uint8_image():
    image = torch.arange(48, dtype=torch.uint8).reshape(1, 3, 4, 4)
    return Example(module(lambda self, image: image.float() / 255), (image,))


@example
def int32_sum():
    numbers = torch.arange(6, dtype=torch.int32)
    return Example(module(lambda self, x, y: x + 2 * y), (numbers, 3 * numbers))


@example
def bool_mask():
    return Example(module(lambda self, x, keep: torch.where(keep, x, torch.zeros_like(x))),
                   (floats(2, 4), torch.tensor([[True, False, True, True], [False, True, False, True]])))


@example
def half_weights():
    fc = nn.Linear(8, 4).half()
    return Example(module(lambda self, x: self.fc(x.half()).float(), fc=fc), (floats(3, 8),))


@example
def bfloat_weights():
    fc = nn.Linear(8, 4).bfloat16()
    return Example(module(lambda self, x: self.fc(x.bfloat16()).float(), fc=fc), (floats(3, 8),))


@example
def condition():
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: self.b(x), (x,))

    return Example(module(forward, a=nn.Linear(4, 4), b=nn.Linear(4, 4)), (floats(2, 4) + 1,))


@example
def while_loop():
    from torch._higher_order_ops.while_loop import while_loop as loop

    def forward(self, count, x):
        return loop(lambda i, y: i > 0, lambda i, y: (i - 1, y * 1.5 + 1), (count, x))

    return Example(module(forward), (torch.tensor(3), floats(4)))


@example
def keyword_inputs():
    return Example(module(lambda self, x, *, scale, shift: x * scale + shift), (floats(2, 4),),
                   {"shift": floats(4), "scale": floats(2, 1)})


@example
def inputs_in_a_dictionary():
    return Example(module(lambda self, batch: batch["x"] + batch["y"]), ({"x": floats(2, 4), "y": floats(4)},))


@example
def inputs_in_a_list():
    return Example(module(lambda self, parts: torch.cat(parts, 1)), ([floats(2, 4), floats(2, 3)],))


@example
def several_outputs():
    return Example(module(lambda self, x: {"largest": x.max(), "rows": (x.sum(1), x.mean(1))}), (floats(2, 4),))


@example
def constant_argument():
    return Example(module(lambda self, x, scale, names: x * scale), (floats(2, 4), 3.0, None))


@example
def norm_and_gelu():
    parts = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
    return Example(parts.eval(), (floats(2, 5, 8),))


@example
def attention():
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return Example(module(forward), tuple(floats(1, 2, 6, 8) * s for s in (1, 0.5, 2)))


@example
def lstm():
    return Example(module(lambda self, x: self.lstm(x)[0], lstm=nn.LSTM(4, 6, batch_first=True)), (floats(1, 5, 4),))


@example
def channels_last():
    conv = nn.Conv2d(3, 4, 3)
    return Example(module(lambda self, x: self.conv(x), conv=conv),
                   (floats(1, 3, 6, 6).contiguous(memory_format=torch.channels_last),))


@example
def slices_of_a_weight():
    def forward(self, x):
        return x @ self.weight[:4].t() + x @ self.weight[4:].t()

    return Example(module(forward, weight=nn.Parameter(floats(8, 6))), (floats(3, 6),))


@example
def einsum():
    return Example(module(lambda self, a, b: torch.einsum("bij,bjk->bik", a, b)), (floats(2, 3, 4), floats(2, 4, 5)))


@example
def top_k():
    x = floats(2, 6) * torch.tensor([1.0, -1, 2, -2, 3, -3])
    return Example(module(lambda self, x: tuple(torch.topk(x, 2))), (x,))


@example
def upsampling():
    return Example(module(lambda self, x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)),
                   (floats(1, 2, 3, 3),))


@example
def tensor_in_code():
    return Example(module(lambda self, x: x * torch.tensor([1.0, 2.0, 3.0, 4.0])), (floats(2, 4),))


@example
def scalar_input():
    return Example(module(lambda self, x, t: x * torch.exp(-t)), (floats(2, 4), torch.tensor(0.5)))


@example
def hidden_buffer():
    class Buffer(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", floats(4), persistent=False)
            self.register_buffer("kept", floats(4) * 2)

        def forward(self, x):
            return x + self.table * self.kept

    return Example(Buffer().eval(), (floats(2, 4),))


@example
def dropout_that_does_nothing():
    return Example(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).eval(), (floats(2, 4),))
