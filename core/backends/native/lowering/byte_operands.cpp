#include "backends/native/lowering/byte_operands.h"

#include "backends/native/node_window.h"
#include "backends/native/steps/byte_batch_step.h"
#include "backends/native/steps/byte_conv_step.h"
#include "backends/native/steps/byte_product_step.h"
#include "ops/support/matmul_support.h"
#include "ops/support/strided.h"

namespace fusescope::native {
namespace {}  // namespace

void emitByteBatch(Context& context, const ByteOperands& operands, const Ref& sums) {
  context.chose({.kind = kByteProductKernel, .multiplies = Choice::Factors::Codes});
  const ops::MatMulExtents extents = ops::matmulExtents(operands.from.dims, operands.right.dims);
  ByteBatchCall call{.a = operands.from,
                     .b = operands.right,
                     .sums = sums,
                     .aZero = operands.zero,
                     .bZero = operands.rightZeros,
                     .m = extents.m,
                     .k = extents.k,
                     .n = extents.n};
  ops::forEachIndex(extents.batch, [&](const Dims& index) {
    call.batches.push_back({ops::offsetOf(index, extents.stridesA), ops::offsetOf(index, extents.stridesB)});
    return true;
  });
  context.program().addStep(makeByteBatchStep(std::move(call), context.threads()), operands.reads, {sums.buffer});
}

void emitByteProduct(Context& context, const ByteOperands& operands, const Ref& sums) {
  if (!operands.weights) return emitByteBatch(context, operands, sums);
  context.chose({.kind = kByteProductKernel, .multiplies = Choice::Factors::Codes});
  const Dims &a = operands.from.dims, &b = operands.weights->dims;
  const BufferIndex packed =
      context.program().addPacked(ByteMatrix::packing(*operands.weights, operands.weightZeros, b[0], b[1]));
  context.program().addStep(makeByteProductStep({.a = operands.from,
                                                 .aZero = operands.zero,
                                                 .matrix = ByteMatrix(b[0], b[1], packed),
                                                 .sums = sums,
                                                 .m = productOf(a, 0, a.size() - 1)},
                                                context.threads()),
                            operands.reads, {sums.buffer});
}

void emitByteConv(Context& context, const Node& node, const ByteOperands& operands, const Ref& sums) {
  context.chose({.kind = kByteConvKernel, .multiplies = Choice::Factors::Codes});
  const Dims& filters = operands.weights->dims;
  context.program().addStep(
      makeByteConvStep(
          {.x = operands.from,
           .xZero = operands.zero,
           .filterDims = filters,
           .filters = context.program().addPacked(byteFilterPacking(*operands.weights, operands.weightZeros)),
           .filterZerosAreZero = operands.turnedZerosAreZero,
           .window = windowOf(node, operands.from.dims, sums.dims, Dims(filters.begin() + 2, filters.end())),
           .groups = node.intAttribute("group", 1),
           .sums = sums},
          context.threads()),
      operands.reads, {sums.buffer});
}

}  // namespace fusescope::native
