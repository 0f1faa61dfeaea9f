#include "backends/native/matrix_product.h"

// Constant matrices that are held as codes and multiplied as floats.
namespace fusescope::native {

/// Returns the constant of which `value` is the transposition, if `value` is a matrix and such a constant exists. The
/// constant is then packed without being transposed first.
std::optional<ValueId> transposedConstant(const Context& context, ValueId value) {
  const Node* made = context.foldedBy(value);
  if (made == nullptr || !made->is("Transpose") || context.dimsOf(value).size() != 2) return std::nullopt;
  const bool turns = made->intsAttribute("perm", {1, 0}) == Dims{1, 0};
  return turns ? std::optional(made->input(0)) : std::nullopt;
}

std::optional<CodeMatrix> codeMatrix(const Context& context, const Node& root) {
  CodeMatrix matrix{.turned = root.intAttribute("transB", 0) != 0};
  ValueId value = root.input(1);
  if (context.readType(value) != DataType::Undefined) return std::nullopt;
  for (auto turned = transposedConstant(context, value); turned; turned = transposedConstant(context, value)) {
    matrix.turned = !matrix.turned;
    value = *turned;
  }
  const Node* made = context.foldedBy(value);
  if (made == nullptr || !made->is("DequantizeLinear")) return std::nullopt;
  const Node& dequantize = *made;
  const ValueId scale = dequantize.input(1), zero = dequantize.input(2);
  const Dims dims = context.dimsOf(dequantize.input(0)), scales = context.dimsOf(scale);
  const DataType type = context.constantType(dequantize.input(0));
  const bool isCode = type == DataType::I8 || type == DataType::U8 || type == DataType::I4 || type == DataType::U4;
  if (!isCode || dims.size() != 2 || context.constantType(scale) != DataType::F32 ||
      context.graph().value(value).type.dtype != DataType::F32 || (zero.valid() && context.dimsOf(zero) != scales))
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
