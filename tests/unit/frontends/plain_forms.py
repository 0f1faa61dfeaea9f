"""Writes plain_forms.json: nodes of ONNX Runtime's own operators, their inputs, and what ONNX Runtime calculates.

    python plain_forms.py      with the packages onnx, numpy and onnxruntime

Each case is a network of one node, as ONNX's textual syntax, once with its extents and once with symbols for them.
Numbers are drawn with a fixed seed and few digits.
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "com.microsoft"
CASES = []
RANDOM = np.random.RandomState(7)


def real(*dims, scale=1.0):
    return np.round(RANDOM.standard_normal(dims) * scale, 2).astype(np.float32)


def whole(low, high, *dims, dtype=np.int64):
    return RANDOM.randint(low, high, dims).astype(dtype)


def codes(*dims, dtype=np.uint8):
    info = np.iinfo(dtype)
    return RANDOM.randint(info.min, info.max + 1, dims).astype(dtype)


def f32(*values):
    return np.array(values[0] if len(values) == 1 else values, np.float32)


def u8(value):
    return np.array(value, np.uint8)


def i8(value):
    return np.array(value, np.int8)


def domain_version(domain, op):
    if domain != "ai.onnx.ml":
        return 1
    return 5 if op == "TreeEnsemble" else 3


def model_of(op, inputs, constants, outputs, attributes, domain, opset, symbols):
    """`outputs`: names, empty where not asked for, each with type and extents or None where ONNX Runtime finds them."""
    names = [name for name, _ in inputs]
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                      [f"{name}{i}" for i in range(value.ndim)] if symbols else value.shape)
        for name, value in inputs if name and name not in constants]
    given = [numpy_helper.from_array(value, name) for name, value in inputs if name in constants]
    results = [helper.make_empty_tensor_value_info(name) if kind is None else
               helper.make_tensor_value_info(name, kind[0], [f"{name}{i}" for i in range(len(kind[1]))] if symbols else kind[1])
               for name, kind in outputs if name]
    node = helper.make_node(op, names, [name for name, _ in outputs], name="node", domain=domain, **attributes)
    graph = helper.make_graph([node], "case", declared, results, given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(domain or DOMAIN, domain_version(domain, op))], ir_version=10)


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def numbers(array):
    """Shortest texts that read back as the same numbers."""
    flat = array.reshape(-1)
    if flat.dtype.kind in "OU":
        return [str(x) for x in flat]
    if flat.dtype in (np.float32, np.float16, np.float64):
        return ["nan" if np.isnan(x) else float(str(x)) for x in flat]
    return [int(x) for x in flat]


def tensor(name, array):
    kind = TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype)).lower()
    return {"name": name, "type": kind, "dims": list(array.shape), "values": numbers(array)}


def case(name, op, inputs, outputs=1, constants=(), opened=True, atol=1e-5, domain=DOMAIN, opset=18, version=None, **attributes):
    """`inputs`: arrays, or None for absent ones; `outputs`: how many, or which are asked for; `atol`: of an element.
    `opened`: also with symbols for all extents."""
    if version is not None:
        attributes["opset"] = version  # which Softmax is meant
    given = [(f"x{i}" if value is not None else "", value) for i, value in enumerate(inputs)]
    fixed = {f"x{i}" for i in constants}
    wanted = range(outputs) if isinstance(outputs, int) else outputs
    names = [f"y{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
    fed = {n: v for n, v in given if n and n not in fixed}
    results = run(model_of(op, given, fixed, [(n, None) for n in names], attributes, domain, opset, False), fed)
    kinds = iter(results)
    types = [(n, (lambda r: (helper.np_dtype_to_tensor_dtype(r.dtype), r.shape))(next(kinds)) if n else None) for n in names]
    text = [onnx.printer.to_text(model_of(op, given, fixed, types, attributes, domain, opset, symbols))
            for symbols in ([False, True] if opened else [False])]
    CASES.append({"name": name, "models": text, "atol": atol, "inputs": [tensor(n, v) for n, v in fed.items()],
                  "outputs": [tensor(n, r) for n, r in zip([n for n in names if n], results)]})


def activations():
    case("gelu", "Gelu", [real(2, 5)])
    case("fast_gelu", "FastGelu", [real(2, 5)])
    case("fast_gelu_bias", "FastGelu", [real(2, 5), real(5)])
    case("bias_gelu", "BiasGelu", [real(2, 5), real(5)])
    case("quick_gelu", "QuickGelu", [real(2, 5)])
    case("quick_gelu_silu", "QuickGelu", [real(2, 5)], alpha=1.0)


def norms():
    x, skip, gamma, beta, bias = real(2, 3, 8), real(2, 3, 8), real(8), real(8), real(8)
    case("simplified_layer_norm", "SimplifiedLayerNormalization", [x, gamma], domain="", axis=-1, epsilon=1e-3)
    case("skip_layer_norm", "SkipLayerNormalization", [x, skip, gamma, beta, bias], outputs=[0, 3], epsilon=1e-5)
    case("skip_layer_norm_alone", "SkipLayerNormalization", [x, real(1, 3, 8), gamma])
    case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], outputs=[0, 3], epsilon=1e-3)
    ids, segments = whole(0, 9, 2, 3, dtype=np.int32), whole(0, 2, 2, 3, dtype=np.int32)
    words, places, kinds, mask = real(9, 8), real(5, 8), real(2, 8), np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    case("embed_layer_norm", "EmbedLayerNormalization", [ids, segments, words, places, kinds, gamma, beta, mask], outputs=[0, 1, 2], epsilon=1e-5)
    case("embed_layer_norm_places", "EmbedLayerNormalization",
         [ids, None, words, places, None, gamma, beta, None, whole(0, 5, 2, 3, dtype=np.int32)], outputs=2)
    case("quantized_embed_layer_norm", "QEmbedLayerNormalization",
         [ids, segments, codes(9, 8), codes(5, 8), codes(2, 8), codes(8), codes(8), mask] +
         [f32(0.02), f32(0.01), f32(0.03), f32(0.01), f32(0.02)] + [u8(120), u8(130), u8(90), u8(20), u8(128)], outputs=2, epsilon=1e-5)


def products():
    a, b = real(2, 3, 4), real(2, 4, 5)
    case("fused_matmul_scaled", "FusedMatMul", [a, b], alpha=0.5)
    case("fused_matmul_transposed", "FusedMatMul", [real(2, 4, 3), real(2, 5, 4)], transA=1, transB=1)
    case("fused_matmul_batch", "FusedMatMul", [real(3, 2, 4), real(2, 4, 5)], transBatchA=1)
    case("fused_matmul_batch_both", "FusedMatMul", [real(3, 2, 4, 6), real(2, 4, 6, 5)], transBatchA=1)
    case("fused_matmul_batch_transposed", "FusedMatMul", [real(4, 2, 2, 3), real(2, 2, 4, 5)], transBatchA=1, transA=1, opened=True)
    case("transpose_matmul", "TransposeMatMul", [real(4, 3), real(4, 5)], transA=1, alpha=2.0)
    case("fused_gemm_relu", "FusedGemm", [real(3, 4), real(5, 4), real(5)], transB=1, activation="Relu", alpha=0.5)
    case("fused_gemm_leaky", "FusedGemm", [real(3, 4), real(4, 5), real(5)], activation="LeakyRelu", activation_alpha=0.3)
    x, w, bias, z = real(1, 2, 5, 5), real(4, 2, 3, 3), real(4), real(1, 4, 5, 5)
    for name, numbers_ in {"Relu": None, "Sigmoid": None, "Tanh": None, "LeakyRelu": [0.2], "Clip": [-1.0, 1.0], "HardSigmoid": [0.3, 0.4]}.items():
        extra = {} if numbers_ is None else {"activation_params": numbers_}
        case(f"fused_conv_{name.lower()}", "FusedConv", [x, w, bias], activation=name, pads=[1, 1, 1, 1], **extra)
    case("fused_conv_sum", "FusedConv", [x, w, bias, z], activation="Relu", pads=[1, 1, 1, 1])


def attentions():
    x, w, bias = real(2, 3, 8), real(8, 24, scale=0.3), real(24)
    masks = {
        "lengths": np.array([2, 3], np.int32), "ends_and_starts": np.array([3, 2, 1, 0], np.int32),
        "keys": np.array([[1, 1, 0], [0, 1, 1]], np.int32), "places": whole(0, 2, 2, 3, 3, dtype=np.int32) | np.eye(3, dtype=np.int32)}
    case("attention", "Attention", [x, w, bias], num_heads=2)
    case("attention_causal", "Attention", [x, w, bias], num_heads=2, unidirectional=1)
    for name, mask in masks.items():
        case(f"attention_mask_{name}", "Attention", [x, w, bias, mask], num_heads=2)
    past = real(2, 2, 2, 4, 4)
    case("attention_past", "Attention", [x, w, bias, None, past], outputs=2, num_heads=2, unidirectional=1)
    case("attention_bias", "Attention", [x, w, bias, np.array([[1, 1, 0], [0, 1, 1]], np.int32), None, real(1, 2, 3, 3)], num_heads=2, scale=0.4)
    case("attention_sizes", "Attention", [x, real(8, 20, scale=0.3), real(20)], num_heads=2, qkv_hidden_sizes=[8, 8, 4])
    case("attention_filter", "Attention", [x, w, bias, np.array([[0, 0, 0], [0, 1, 1]], np.int32)], num_heads=2, mask_filter_value=-3.0)
    case("quantized_attention", "QAttention", [codes(2, 3, 8), codes(8, 24, dtype=np.int8), bias, f32(0.02), f32(0.01), masks["lengths"], u8(120), i8(3)],
         num_heads=2, atol=1e-4)
    query, key, value = real(2, 3, 8), real(2, 5, 8), real(2, 5, 12)
    case("multi_head", "MultiHeadAttention", [query, key, value], num_heads=2)
    case("multi_head_bias", "MultiHeadAttention", [query, key, value, real(28)], num_heads=2, scale=0.3)
    case("multi_head_lengths", "MultiHeadAttention", [query, key, value, None, np.array([2, 5], np.int32)], num_heads=2)
    case("multi_head_mask", "MultiHeadAttention", [query, key, value, None, np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 1]], np.int32), real(1, 1, 3, 5)], num_heads=2)
    case("multi_head_past", "MultiHeadAttention", [query, real(2, 3, 8), real(2, 3, 8), real(24), None, None, real(2, 2, 4, 4), real(2, 2, 4, 4)],
         outputs=3, num_heads=2, unidirectional=1)
    case("multi_head_cross", "MultiHeadAttention", [query, real(2, 2, 5, 4), real(2, 2, 5, 4), real(24)], num_heads=2)
    grouped()
    rotary()


def caches(half):
    angles = np.arange(12)[:, None] * 0.5 ** np.arange(1, half + 1)[None, :]
    return np.round(np.cos(angles), 3).astype(np.float32), np.round(np.sin(angles), 3).astype(np.float32)


def grouped():
    total = lambda n: np.array(n, np.int32)
    past = [real(1, 2, 4, 8), real(1, 2, 4, 8)]
    step = [real(1, 1, 32), real(1, 1, 16), real(1, 1, 16)]
    prompt = [real(2, 3, 32), real(2, 3, 16), real(2, 3, 16)]
    heads = {"num_heads": 4, "kv_num_heads": 2}
    case("grouped_prompt", "GroupQueryAttention", prompt + [None, None, np.array([2, 2], np.int32), total(3)], outputs=3, **heads)
    case("grouped_prompt_padded", "GroupQueryAttention", prompt + [None, None, np.array([1, 2], np.int32), total(3)], outputs=[0], **heads)
    case("grouped_step", "GroupQueryAttention", step + past + [np.array([4], np.int32), total(5)], outputs=3, **heads)
    case("grouped_step_constant", "GroupQueryAttention", step + past + [np.array([4], np.int32), total(5)], outputs=3, constants=(5, 6), **heads)
    case("grouped_window", "GroupQueryAttention", prompt + [None, None, np.array([2, 2], np.int32), total(3)], outputs=3, local_window_size=2, softcap=2.0, scale=0.4, **heads)
    case("grouped_packed", "GroupQueryAttention", [real(1, 3, 64), None, None, None, None, np.array([2], np.int32), total(3)], outputs=3, opened=False, **heads)
    case("grouped_shared_cache", "GroupQueryAttention", step + [real(1, 2, 5, 8), real(1, 2, 5, 8), np.array([4], np.int32), total(5)], outputs=3, **heads)
    cosines, sines = caches(8)
    two = {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, "constants": (7, 8), "outputs": 3}
    case("grouped_rotary", "GroupQueryAttention",
         step + [real(1, 1, 4, 16), real(1, 1, 4, 16), np.array([4], np.int32), total(5), cosines, sines], **two)
    case("grouped_rotary_prompt", "GroupQueryAttention",
         prompt + [None, None, np.array([2, 2], np.int32), total(3), cosines, sines], rotary_interleaved=1, **two)


def rotary():
    cosines, sines = caches(2)
    case("rotary", "RotaryEmbedding", [real(2, 3, 8), np.array([1], np.int64), cosines, sines], constants=(2, 3), opened=False)
    case("rotary_places", "RotaryEmbedding", [real(2, 3, 8), whole(0, 12, 2, 3), cosines, sines], constants=(2, 3), num_heads=2, interleaved=1)
    case("rotary_heads", "RotaryEmbedding", [real(2, 2, 3, 4), whole(0, 12, 2, 3), cosines, sines], constants=(2, 3))
    case("rotary_partial", "RotaryEmbedding", [real(2, 3, 12), whole(0, 12, 2, 3), cosines, sines], constants=(2, 3), num_heads=2, rotary_embedding_dim=4)


def quantized():
    a, b = codes(2, 4), codes(4)
    pair = [a, f32(0.03), u8(120), b, f32(0.05), u8(100), f32(0.06), u8(110)]
    case("quantized_add", "QLinearAdd", pair, atol=1)
    case("quantized_mul", "QLinearMul", pair, atol=1)
    case("quantized_concat", "QLinearConcat", [f32(0.05), u8(110), codes(2, 3), f32(0.03), u8(120), codes(2, 2), f32(0.06), u8(90)], axis=1, atol=1)
    case("quantized_leaky", "QLinearLeakyRelu", [a, f32(0.03), u8(120), f32(0.03), u8(60)], alpha=0.2, atol=1)
    case("quantized_sigmoid", "QLinearSigmoid", [a, f32(0.03), u8(120), f32(1 / 256), u8(0)], atol=1)
    cube = [codes(2, 3, 4), f32(0.03), u8(120), f32(1 / 256), u8(0)]
    case("quantized_softmax", "QLinearSoftmax", cube, axis=-1, version=18, atol=1)
    case("quantized_softmax_of_matrix", "QLinearSoftmax", cube, axis=1, version=12, atol=1)
    case("quantized_where", "QLinearWhere", [np.array([[True, False, True, False]] * 2), a, f32(0.03), u8(120), codes(2, 4), f32(0.05), u8(100), f32(0.06), u8(110)], atol=1)
    x = codes(1, 3, 5, 5)
    pool = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], atol=1)
    case("quantized_average_pool", "QLinearAveragePool", [x, f32(0.03), u8(120), f32(0.02), u8(110)], **pool)
    case("quantized_average_pool_last", "QLinearAveragePool", [codes(1, 5, 5, 3), f32(0.03), u8(120), f32(0.02), u8(110)], channels_last=1, **pool)
    case("quantized_global_pool", "QLinearGlobalAveragePool", [x, f32(0.03), u8(120), f32(0.01), u8(110)], atol=1)
    case("quantized_global_pool_last", "QLinearGlobalAveragePool", [codes(1, 5, 5, 3), f32(0.03), u8(120), f32(0.01), u8(110)], channels_last=1, atol=1)
    weights = codes(4, 3, 3, 3, dtype=np.int8)
    conv = [f32(0.03), u8(120), weights, f32([0.01, 0.02, 0.015, 0.03]), i8([0, 0, 0, 0]), f32(0.2), u8(128), whole(-900, 900, 4, dtype=np.int32)]
    case("quantized_conv", "QLinearConv", [x] + conv, constants=(3,), pads=[1, 1, 1, 1], atol=1)
    case("quantized_conv_last", "QLinearConv", [codes(1, 5, 5, 3)] + conv, constants=(3,), pads=[1, 1, 1, 1], channels_last=1, atol=1)
    gemm = [codes(3, 4), f32(0.03), u8(120), codes(5, 4, dtype=np.int8), f32([0.01, 0.02, 0.015, 0.03, 0.01]), i8([0, 0, 0, 0, 0]), whole(-300, 300, 5, dtype=np.int32)]
    case("quantized_gemm", "QGemm", gemm + [f32(0.1), u8(128)], transB=1, alpha=1.0, atol=1)
    case("quantized_gemm_float", "QGemm", gemm, transB=1, alpha=0.5, atol=1e-4)
    case("dynamic_quantize_matmul", "DynamicQuantizeMatMul", [real(2, 3, 4), codes(4, 5, dtype=np.int8), f32([0.01, 0.02, 0.015, 0.03, 0.01]), i8([0, 3, 1, -2, 0]), real(5)],
         constants=(1,), atol=1e-4)
    case("matmul_integer_to_float", "MatMulIntegerToFloat", [codes(2, 3, 4), codes(4, 5, dtype=np.int8), f32(0.03), f32(0.02), u8(120), i8(3), real(5)], constants=(1,), atol=1e-4)


def low_bit():
    x = real(2, 40)
    for bits in (4, 8):
        blob = codes(6, 3, 16 * bits // 8)
        zeros = codes(6, (3 * bits + 7) // 8)
        scales = real(6, 3, scale=0.1)
        shape = dict(K=40, N=6, block_size=16, bits=bits, atol=1e-3 if bits == 8 else 1e-4)
        case(f"matmul_{bits}_bits", "MatMulNBits", [x, blob, scales], constants=(1, 2), **shape)
        case(f"matmul_{bits}_bits_zeros", "MatMulNBits", [x, blob, scales, zeros, None, real(6)], constants=(1, 2, 3), **shape)
    case("matmul_4_bits_float_zeros", "MatMulNBits", [x, codes(6, 3, 8), real(6, 3, scale=0.1), real(6, 3, scale=4)], constants=(1, 2, 3), K=40, N=6, block_size=16, bits=4, atol=1e-4)
    table, ids = codes(7, 16), whole(0, 7, 2, 3)
    case("gather_packed", "GatherBlockQuantized", [table, ids, real(7, 2, scale=0.1), codes(7, 1)], constants=(0, 2, 3), bits=4, block_size=16, quantize_axis=1, gather_axis=0)
    case("gather_packed_around_half", "GatherBlockQuantized", [table, ids, real(7, 2, scale=0.1)], constants=(0, 2), bits=4, block_size=16, quantize_axis=1, gather_axis=0)


def others():
    case("distances", "CDist", [real(3, 4), real(2, 4)], metric="euclidean")
    case("square_distances", "CDist", [real(3, 4), real(2, 4)])
    case("expand_dims", "ExpandDims", [real(2, 3), np.array(1, np.int32)], constants=(1,))
    case("lower_triangle", "Trilu", [real(3, 3)], upper=0)
    case("range", "Range", [np.array(2, np.int64), np.array(7, np.int64)], opened=True)
    case("gather_nd", "GatherND", [real(2, 3), np.array([[0, 1], [1, 2]], np.int64)])
    case("quantize_16", "QuantizeLinear", [real(2, 3), f32(0.01), np.array(300, np.uint16)])
    case("dequantize_16", "DequantizeLinear", [whole(0, 60000, 2, 3, dtype=np.uint16), f32(0.01), np.array(300, np.uint16)])


def write(path):
    lines = ",\n".join(json.dumps(c) for c in CASES)
    path.write_text(f'{{"onnxruntime": "{onnxruntime.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"{len(CASES)} cases in {path}", file=sys.stderr)


def main():
    activations()
    norms()
    products()
    attentions()
    quantized()
    low_bit()
    others()
    write(Path(__file__).with_suffix(".json"))


if __name__ == "__main__":
    main()
