#include "backends/native/code_panels.h"
#include "backends/native/lowering.h"

// Constant matrices that are held as codes and multiplied as floats.
namespace fusescope::native {

/// The codes that the second operand of a product, a constant matrix, is dequantised from: by one scale, by one for
/// each column, or by blocks along k.
std::optional<CodeMatrix> Lowering::codeMatrix(const Node& root) const {
  CodeMatrix matrix{.turned = root.intAttribute("transB", 0) != 0};
  ValueId value = root.input(1);
  if (readType(value) != DataType::Undefined) return std::nullopt;
  for (auto turned = transposedConstant(value); turned; turned = transposedConstant(value)) {
    matrix.turned = !matrix.turned;
    value = *turned;
  }
  const auto made = producer(value);
  if (!made || !node(*made).is("DequantizeLinear") || !node(*made).domain.empty()) return std::nullopt;
  const Node& dequantize = node(*made);
  const ValueId scale = dequantize.input(1), zero = dequantize.input(2);
  const Dims dims = dimsOf(dequantize.input(0)), scales = dimsOf(scale);
  const DataType type = constantType(dequantize.input(0));
  const bool isCode = type == DataType::I8 || type == DataType::U8 || type == DataType::I4 || type == DataType::U4;
  if (!isCode || dims.size() != 2 || constantType(scale) != DataType::F32 ||
      m_graph.value(value).type.dtype != DataType::F32 || (zero.valid() && dimsOf(zero) != scales))
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
  matrix.codes = weight(dequantize.input(0));
  matrix.scales = weight(scale);
  if (zero.valid()) matrix.zeros = weight(zero);
  return matrix;
}

}  // namespace fusescope::native
