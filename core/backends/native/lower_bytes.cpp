#include <algorithm>

#include "backends/native/byte_conv_step.h"
#include "backends/native/byte_product_step.h"
#include "backends/native/lowering.h"
#include "backends/native/requantize_step.h"

namespace fusescope::native {

/// Operands of a product of bytes: where they stand, and what is known of them.
struct ByteOperands {
  std::size_t a = 0, aZero = 2, b = 1, bZero = 3;
  const Tensor* weights = nullptr;
  std::vector<std::int32_t> weightZeros;
  Ref from;
  std::optional<Ref> zero;
  std::vector<BufferIndex> reads;
};

namespace {

bool isByte(DataType type) {
  return type == DataType::I8 || type == DataType::U8;
}

bool requantises(const Node& node) {
  return node.is("QLinearMatMul") || node.is("QLinearConv");
}

bool isByteConv(const Node& node) {
  return node.is("ConvInteger") || node.is("QLinearConv");
}

template <class T>
std::vector<T> valuesOf(const Tensor* tensor) {
  std::vector<T> values;
  for (std::int64_t i = 0; tensor != nullptr && i < tensor->count(); ++i)
    values.push_back(static_cast<T>(tensor->asDouble(i)));
  return values;
}

}  // namespace

Result<bool> Lowering::lowerBytes(const Node& node) {
  if (node.is("DynamicQuantizeLinear")) return lowerDynamicQuantize(node);
  if (!node.is("MatMulInteger") && !isByteConv(node) && !requantises(node)) return false;
  const auto operands = TRY(byteOperands(node));
  if (!operands || (requantises(node) && !canRequantize(node))) return false;
  const ValueId result = node.outputs[0];
  const Ref sums = requantises(node) ? allocateScratch(DataType::I32, dimsOf(result)) : allocate(result);
  isByteConv(node) ? emitByteConv(node, *operands, sums) : emitByteProduct(node, *operands, sums);
  if (requantises(node))
    emitRequantize(node, sums);
  else
    define(result, sums);
  return true;
}

Result<bool> Lowering::lowerDynamicQuantize(const Node& node) {
  const Ref x = TRY(plain(TRY(ref(node.input(0)))));
  std::vector<Ref> results;
  std::vector<BufferIndex> writes;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueId value = i < node.outputs.size() ? node.outputs[i] : ValueId();
    const bool wanted = value.valid() && m_request.values.contains(value);
    const DataType type = i == 1 ? DataType::F32 : DataType::U8;
    results.push_back(wanted ? allocate(value) : allocateScratch(type, i == 0 ? x.dims : Dims{}));
    if (wanted) define(value, results.back());
    writes.push_back(results.back().buffer);
  }
  m_implementations.emplace_back("dynamic_quantize");
  m_program.addStep(makeDynamicQuantizeStep(x, results[0], results[1], results[2], m_threads), {x.buffer}, writes);
  return true;
}

Result<std::optional<ByteOperands>> Lowering::byteOperands(const Node& node) {
  const std::optional<ByteOperands> none;
  ByteOperands operands;
  if (requantises(node)) operands.b = 3, operands.bZero = 5;
  const Dims a = dimsOf(node.input(operands.a)), b = dimsOf(node.input(operands.b));
  operands.weights = constant(node.input(operands.b));
  if (operands.weights == nullptr || !isByte(operands.weights->type()) || !isByte(typeOf(node.input(operands.a))))
    return none;
  if (a.empty() || elementCount(a) == 0 || elementCount(b) == 0 || elementCount(dimsOf(node.outputs[0])) == 0)
    return none;
  const bool conv = isByteConv(node);
  if (conv ? a.size() != 4 : b.size() != 2) return none;
  const Tensor* zeros = nullptr;
  if (node.input(operands.bZero).valid()) {
    zeros = constant(node.input(operands.bZero));
    if (zeros == nullptr || zeros->dims().size() > 1) return none;
    if (zeros->count() != 1 && zeros->count() != (conv ? b[0] : b[1])) return none;
  }
  operands.weightZeros = valuesOf<std::int32_t>(zeros);
  const ValueId zero = node.input(operands.aZero);
  if (zero.valid() && elementCount(dimsOf(zero)) != 1) return none;
  if (conv) {
    const Window window = windowOf(node, a, dimsOf(node.outputs[0]), Dims(b.begin() + 2, b.end()));
    if (std::ranges::any_of(window.padBegin, [](std::int64_t pad) { return pad < 0; })) return none;
  }
  operands.from = TRY(plain(TRY(ref(node.input(operands.a)))));
  operands.reads = {operands.from.buffer};
  if (zero.valid()) {
    operands.zero = TRY(ref(zero));
    operands.reads.push_back(operands.zero->buffer);
  }
  return std::optional(std::move(operands));
}

void Lowering::emitByteProduct(const Node& node, const ByteOperands& operands, const Ref& sums) {
  m_implementations.emplace_back("byte_product");
  if (m_options.probe) return;
  const Dims a = dimsOf(node.input(operands.a)), b = operands.weights->dims();
  const auto* codes = reinterpret_cast<const std::uint8_t*>(operands.weights->bytes());
  m_program.addStep(
      makeByteProductStep({.a = operands.from,
                           .aZero = operands.zero,
                           .matrix = ByteMatrix(codes, operands.weights->type(), b[0], b[1], operands.weightZeros),
                           .sums = sums,
                           .m = productOf(a, 0, a.size() - 1)},
                          m_threads),
      operands.reads, {sums.buffer});
}

void Lowering::emitByteConv(const Node& node, const ByteOperands& operands, const Ref& sums) {
  m_implementations.emplace_back("byte_conv");
  if (m_options.probe) return;
  const Dims& filters = operands.weights->dims();
  m_program.addStep(makeByteConvStep({.x = operands.from,
                                      .xZero = operands.zero,
                                      .filters = operands.weights,
                                      .filterZeros = operands.weightZeros,
                                      .window = windowOf(node, operands.from.dims, sums.dims,
                                                         Dims(filters.begin() + 2, filters.end())),
                                      .groups = node.intAttribute("group", 1),
                                      .sums = sums},
                                     m_threads),
                    operands.reads, {sums.buffer});
}

// Inputs of the QLinear operators: x, its scale and zero, w, its scale and zero, scale and zero of y, and the bias.
bool Lowering::canRequantize(const Node& node) const {
  const bool conv = isByteConv(node);
  const std::int64_t channels = conv ? dimsOf(node.input(3))[0] : dimsOf(node.input(3)).back();
  for (const std::size_t input : {1, 4, 6, 7}) {
    const Tensor* tensor = constant(node.input(input));
    const bool each = input == 4 && tensor != nullptr && tensor->dims().size() == 1 && tensor->count() == channels;
    if (tensor == nullptr || (tensor->count() != 1 && !each)) return false;
  }
  return isByte(typeOf(node.outputs[0])) && (!node.input(8).valid() || constant(node.input(8)) != nullptr);
}

void Lowering::emitRequantize(const Node& node, const Ref& sums) {
  const bool conv = isByteConv(node);
  const double x = constant(node.input(1))->asDouble(0), y = constant(node.input(6))->asDouble(0);
  RequantizeCall call{.sums = sums,
                      .codes = allocate(node.outputs[0]),
                      .channels = conv ? sums.dims[1] : sums.dims.back(),
                      .inner = conv ? productOf(sums.dims, 2) : 1,
                      .factors = valuesOf<double>(constant(node.input(4)))};
  for (double& factor : call.factors) factor = conv ? x / y * factor : x * factor / y;
  if (node.input(8).valid()) call.bias = valuesOf<std::int32_t>(constant(node.input(8)));
  call.zero = static_cast<std::int32_t>(constant(node.input(7))->asDouble(0));
  const Ref codes = call.codes;
  define(node.outputs[0], codes);
  m_program.addStep(makeRequantizeStep(std::move(call), m_threads), {sums.buffer}, {codes.buffer});
}

}  // namespace fusescope::native
