#include <algorithm>

#include "backends/native/lowering/matrix_product.h"
#include "planning/kernel_bindings.h"

// Constant matrices that are held as codes and multiplied as floats.
namespace fusescope::native {
namespace {

/// Returns whether the node transposes a constant matrix. A product then packs this matrix without transposing it
/// first.
bool transposesConstant(const Context& context, NodeId transpose) {
  if (!context.isFolded(transpose)) return false;
  const Node& node = context.node(transpose);
  return context.dimsOf(node.outputs[0]).size() == 2 && node.intsAttribute("perm", {1, 0}) == Dims{1, 0};
}

}  // namespace

std::optional<ValueId> transposedConstant(const Context& context, const Node& root) {
  const RootBinding* bound = findRoot(context.fused(), root.id);
  if (bound == nullptr || bound->matrix.transposes.empty()) return std::nullopt;
  const NodeId transpose = bound->matrix.transposes.front();
  return transposesConstant(context, transpose) ? std::optional(context.node(transpose).input(0)) : std::nullopt;
}

std::optional<CodeMatrix> codeMatrix(const Context& context, const Node& root) {
  const RootBinding* bound = findRoot(context.fused(), root.id);
  if (bound == nullptr || context.readType(root.input(1)) != DataType::Undefined) return std::nullopt;
  const auto& [transposes, dequantizes] = bound->matrix;
  const auto isTransposed = [&](NodeId id) { return transposesConstant(context, id); };
  if (!dequantizes.valid() || !context.isFolded(dequantizes) || !std::ranges::all_of(transposes, isTransposed))
    return std::nullopt;
  CodeMatrix matrix{.turned = (root.intAttribute("transB", 0) != 0) != (transposes.size() % 2 != 0)};
  const Node& dequantize = context.node(dequantizes);
  const ValueId scale = dequantize.input(1), zero = dequantize.input(2);
  const Dims dims = context.dimsOf(dequantize.input(0)), scales = context.dimsOf(scale);
  const DataType type = context.constantType(dequantize.input(0));
  const bool isCode = type == DataType::I8 || type == DataType::U8 || type == DataType::I4 || type == DataType::U4;
  if (!isCode || dims.size() != 2 || context.constantType(scale) != DataType::F32 ||
      context.declaredType(dequantize.outputs[0]) != DataType::F32 || (zero.valid() && context.dimsOf(zero) != scales))
    return std::nullopt;
  const std::size_t along = matrix.turned ? 1 : 0, axis = positiveAxis(dequantize.intAttribute("axis", 1), 2);
  matrix.k = dims[along];
  matrix.n = dims[1 - along];
  const std::int64_t block = dequantize.intAttribute("block_size", 0);
  matrix.oneScale = elementCount(scales) == 1;
  matrix.block = block == 0 || matrix.oneScale ? matrix.k : block;
  Dims expected = dims;
  expected[along] = matrix.blocks();
  const bool perColumn = block == 0 && axis == 1 - along && scales == Dims{matrix.n};
  if (!matrix.oneScale && !perColumn && !(block > 0 && axis == along && scales == expected)) return std::nullopt;
  matrix.codes = context.weight(dequantize.input(0));
  matrix.scales = context.weight(scale);
  if (zero.valid()) matrix.zeros = context.weight(zero);
  return matrix;
}

}  // namespace fusescope::native
