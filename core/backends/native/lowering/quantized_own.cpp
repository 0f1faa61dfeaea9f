#include <algorithm>

#include "backends/native/lowering/byte_operands.h"
#include "backends/native/lowering/quantized_kernels.h"
#include "backends/native/lowering/quantized_parts.h"
#include "backends/native/node_window.h"

namespace fusescope::native {
namespace {

/// Returns `matrix` [n, k] as [k, n].
Weight transposedWeight(const Weight& matrix) {
  return calculatedWeight(Node{.op = "Transpose"}, {matrix}, matrix.type, {matrix.dims[1], matrix.dims[0]});
}

/// Returns a zero point in the form that a kernel reads.
Ref zeroOf(Context& context, const CodeScale& codes) {
  const Tensor zero = Tensor::scalar(codes.zero).converted(codes.type);
  return {.buffer = context.program().addTable(zero), .dtype = codes.type};
}

}  // namespace

bool canConvolveBytes(const Context& context, const Node& root) {
  const Dims from = context.dimsOf(root.input(0)), filters = context.dimsOf(root.input(1));
  if (from.size() != 4) return false;
  const Window window = windowOf(root, from, context.dimsOf(root.outputs[0]), Dims(filters.begin() + 2, filters.end()));
  return std::ranges::none_of(window.padBegin, [](std::int64_t pad) { return pad < 0; });
}

/// Multiplies the codes with our own kernels. The tapes behind them scale the sums and calculate the rest.
Status emitOwnQuantized(Context& context, const QuantizedChain& chain) {
  const Node &root = context.node(chain.root), &dequantize = context.node(chain.weights);
  const bool conv = root.is("Conv");
  const Dims result = context.dimsOf(root.outputs[0]);
  const std::int64_t channels = conv ? result[1] : result.back();
  ByteOperands operands;
  operands.weights = context.weight(dequantize.input(0));
  if (root.intAttribute("transB", 0) != 0) operands.weights = transposedWeight(*operands.weights);
  operands.turnedZerosAreZero = weightsAreSymmetric(context, chain);
  if (dequantize.input(2).valid()) operands.weightZeros = context.weight(dequantize.input(2));
  operands.from = TRY(context.plain(TRY(context.ref(chain.source))));
  if (!conv) operands.from.dims = context.dimsOf(root.input(0));
  if (chain.sourceScale.zero != 0) operands.zero = zeroOf(context, chain.sourceScale);
  operands.reads = {operands.from.buffer};
  const Ref sums = context.allocateScratch(DataType::I32, result);
  conv ? emitByteConv(context, root, operands, sums) : emitByteProduct(context, operands, sums);
  ScaledSums scaled{.sums = sums, .scale = context.packedRef({channels}, quantizedScales(context, chain, {}))};
  if (root.input(2).valid())
    scaled.bias = context.packedRef({channels}, quantizedBias(context, chain, {root.input(2)}, {}));
  context.queue(chain.root, std::move(scaled));
  leaveQuantized(context, chain, 0);
  return Done{};
}

Status emitOwnProductOfCodes(Context& context, const QuantizedChain& chain) {
  const Node& root = context.node(chain.root);
  const Ref sums = context.allocateScratch(DataType::I32, context.dimsOf(root.outputs[0]));
  ByteOperands operands{.from = TRY(context.plain(TRY(context.ref(chain.source)))),
                        .right = TRY(context.plain(TRY(context.ref(chain.right))))};
  operands.from.dims = context.dimsOf(root.input(0));
  operands.right.dims = context.dimsOf(root.input(1));
  if (chain.sourceScale.zero != 0) operands.zero = zeroOf(context, chain.sourceScale);
  if (chain.rightScale.zero != 0) operands.rightZeros = zeroOf(context, chain.rightScale);
  operands.reads = {operands.from.buffer, operands.right.buffer};
  emitByteBatch(context, operands, sums);
  context.queue(
      chain.root,
      ScaledSums{.sums = sums, .scale = context.packedRef({1}, quantizedScales(context, chain, {})), .bias = {}});
  leaveQuantized(context, chain, 0);
  return Done{};
}

}  // namespace fusescope::native
