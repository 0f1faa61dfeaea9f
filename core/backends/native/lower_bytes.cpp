#include <algorithm>

#include "backends/native/byte_conv_step.h"
#include "backends/native/byte_product_step.h"
#include "backends/native/lowering.h"

namespace fusescope::native {
namespace {

/// Zero points that are constants.
std::vector<std::int32_t> zerosOf(const Tensor& tensor) {
  std::vector<std::int32_t> zeros;
  for (std::int64_t i = 0; i < tensor.count(); ++i) zeros.push_back(static_cast<std::int32_t>(tensor.asDouble(i)));
  return zeros;
}

/// Places of the operands of a product of bytes.
struct ByteSlots {
  std::size_t a, aZero, b, bZero;
};
constexpr ByteSlots kIntegerSlots{0, 2, 1, 3};

}  // namespace

Result<bool> Lowering::lowerBytes(const Node& node) {
  if (node.is("DynamicQuantizeLinear")) return lowerDynamicQuantize(node);
  if (node.is("MatMulInteger")) return lowerByteProduct(node);
  if (node.is("ConvInteger")) return lowerByteConv(node);
  return false;
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

bool Lowering::takesByteZero(const Node& node, std::size_t input) const {
  return !node.input(input).valid() || elementCount(dimsOf(node.input(input))) == 1;
}

Result<bool> Lowering::lowerByteProduct(const Node& node) {
  const ByteSlots slots = kIntegerSlots;
  const Dims a = dimsOf(node.input(slots.a)), b = dimsOf(node.input(slots.b));
  const Tensor* weights = constant(node.input(slots.b));
  const Tensor* zeros = node.input(slots.bZero).valid() ? constant(node.input(slots.bZero)) : nullptr;
  const bool zerosKnown = !node.input(slots.bZero).valid() || (zeros != nullptr && zeros->dims().size() <= 1 &&
                                                               (zeros->count() == 1 || zeros->count() == b.back()));
  if (weights == nullptr || b.size() != 2 || a.empty() || elementCount(a) == 0 || elementCount(b) == 0) return false;
  if (!zerosKnown || !takesByteZero(node, slots.aZero)) return false;
  const Ref from = TRY(plain(TRY(ref(node.input(slots.a)))));
  std::optional<Ref> aZero;
  std::vector<BufferIndex> reads{from.buffer};
  if (node.input(slots.aZero).valid()) {
    aZero = TRY(ref(node.input(slots.aZero)));
    reads.push_back(aZero->buffer);
  }
  const Ref sums = allocate(node.outputs[0]);
  define(node.outputs[0], sums);
  m_implementations.emplace_back("byte_product");
  if (m_options.probe) return true;
  const auto* codes = reinterpret_cast<const std::uint8_t*>(weights->bytes());
  ByteMatrix matrix(codes, weights->type(), b[0], b[1],
                    zeros == nullptr ? std::vector<std::int32_t>() : zerosOf(*zeros));
  m_program.addStep(
      makeByteProductStep(
          {.a = from, .aZero = aZero, .matrix = std::move(matrix), .sums = sums, .m = productOf(a, 0, a.size() - 1)},
          m_threads),
      reads, {sums.buffer});
  return true;
}

Result<bool> Lowering::lowerByteConv(const Node& node) {
  const ByteSlots slots = kIntegerSlots;
  const Tensor* filters = constant(node.input(slots.b));
  const Tensor* zeros = node.input(slots.bZero).valid() ? constant(node.input(slots.bZero)) : nullptr;
  const Dims x = dimsOf(node.input(slots.a)), y = dimsOf(node.outputs[0]);
  if (filters == nullptr || x.size() != 4 || elementCount(x) == 0 || elementCount(y) == 0) return false;
  if ((node.input(slots.bZero).valid() && zeros == nullptr) || !takesByteZero(node, slots.aZero)) return false;
  if (zeros != nullptr && zeros->count() != 1 && zeros->count() != filters->dims()[0]) return false;
  ByteConvCall call{.filters = filters,
                    .window = windowOf(node, x, y, Dims(filters->dims().begin() + 2, filters->dims().end())),
                    .groups = node.intAttribute("group", 1)};
  if (std::ranges::any_of(call.window.padBegin, [](std::int64_t pad) { return pad < 0; })) return false;
  if (zeros != nullptr) call.filterZeros = zerosOf(*zeros);
  call.x = TRY(plain(TRY(ref(node.input(slots.a)))));
  std::vector<BufferIndex> reads{call.x.buffer};
  if (node.input(slots.aZero).valid()) {
    call.xZero = TRY(ref(node.input(slots.aZero)));
    reads.push_back(call.xZero->buffer);
  }
  call.sums = allocate(node.outputs[0]);
  define(node.outputs[0], call.sums);
  const Ref sums = call.sums;
  m_implementations.emplace_back("byte_conv");
  if (!m_options.probe) m_program.addStep(makeByteConvStep(std::move(call), m_threads), reads, {sums.buffer});
  return true;
}

}  // namespace fusescope::native
