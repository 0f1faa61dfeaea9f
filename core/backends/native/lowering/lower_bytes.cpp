#include <algorithm>

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/lowering/byte_operands.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/node_window.h"
#include "backends/native/steps/byte_product_step.h"
#include "backends/native/steps/requantize_step.h"
#include "base/hash.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kDynamicQuantizeKernel{.name = "dynamic_quantize"};

bool requantises(const Node& node) {
  return node.is("QLinearMatMul") || node.is("QLinearConv");
}

bool isByteConv(const Node& node) {
  return node.is("ConvInteger") || node.is("QLinearConv");
}

/// The numbers of the inputs of a product of bytes that are its operands and their zero points.
struct BytePlaces {
  std::size_t a = 0, aZero = 2, b = 1, bZero = 3;
};

BytePlaces placesOf(const Node& node) {
  return requantises(node) ? BytePlaces{.b = 3, .bZero = 5} : BytePlaces{};
}

/// Packs the factors by which sums are requantised, one for each channel, from the scales of x, w and y. Convolutions
/// and products multiply and divide in different orders, as their reference kernels do.
Packing factorPacking(std::vector<Weight> scales, std::int64_t channels, bool conv) {
  KeyBuilder form;
  form.text("requantize factors").number(channels).number(conv);
  return packingOf(form.canonical(), std::move(scales),
                   [channels, conv](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = Tensor::zeros(DataType::F64, {channels});
                     const double x = numbers[0].asDouble(0), y = numbers[2].asDouble(0);
                     for (std::int64_t c = 0; c < channels; ++c) {
                       const double w = numbers[1].asDouble(numbers[1].count() == 1 ? 0 : c);
                       packed.mutableData<double>()[static_cast<std::size_t>(c)] = conv ? x / y * w : x * w / y;
                     }
                     return packed;
                   });
}

/// Returns how many of the sums may have a factor of their own: the number of filters, or of columns of the second
/// operand.
std::int64_t requantizedChannels(const Context& context, const Node& node) {
  const Dims weights = context.dimsOf(node.input(3));
  return isByteConv(node) ? weights[0] : weights.size() > 1 ? weights.back() : 1;
}

// The inputs of the QLinear operators are: x, its scale and zero point, w, its scale and zero point, scale and zero
// point of y, and the bias.
bool canRequantize(const Context& context, const Node& node) {
  const std::int64_t channels = requantizedChannels(context, node);
  for (const std::size_t input : {1, 4, 6, 7}) {
    if (!context.isConstant(node.input(input))) return false;
    const Dims dims = context.dimsOf(node.input(input));
    const bool each = input == 4 && dims.size() == 1 && dims[0] == channels;
    if (elementCount(dims) != 1 && !each) return false;
  }
  return isByteInteger(context.typeOf(node.outputs[0])) &&
         (!node.input(8).valid() || context.isConstant(node.input(8)));
}

void emitRequantize(Context& context, const Node& node, const Ref& sums) {
  const bool conv = isByteConv(node);
  const std::int64_t channels = requantizedChannels(context, node);
  RequantizeCall call{.sums = sums,
                      .codes = context.allocate(node.outputs[0]),
                      .channels = channels,
                      .inner = conv            ? productOf(sums.dims, 2)
                               : channels == 1 ? sums.count()
                                               : 1,
                      .factors = context.program().addPacked(factorPacking(
                          {context.weight(node.input(1)), context.weight(node.input(4)), context.weight(node.input(6))},
                          channels, conv))};
  if (node.input(8).valid())
    call.bias = context.program().addPacked(plainPacking(context.weight(node.input(8)), DataType::I32));
  call.zero = static_cast<std::int32_t>(context.constantNumber(node.input(7)).value_or(0));
  const Ref codes = call.codes;
  context.define(node.outputs[0], codes);
  context.program().addStep(makeRequantizeStep(std::move(call), context.threads()), {sums.buffer}, {codes.buffer});
}

/// Returns whether `zeros`, if valid, contains one zero point for the whole second operand, or one for each of its
/// filters or columns.
bool areByteZeros(const Context& context, const Node& node, ValueId zeros, ValueId codes) {
  if (!zeros.valid()) return true;
  const Dims dims = context.dimsOf(codes);
  const std::int64_t each = isByteConv(node) ? dims[0] : dims.size() > 1 ? dims.back() : 1;
  return context.dimsOf(zeros).size() <= 1 &&
         (elementCount(context.dimsOf(zeros)) == 1 || elementCount(context.dimsOf(zeros)) == each);
}

/// If the second operand consists of constant filters, or is one constant matrix, it is stored in `operands` as a
/// weight that is packed once. Returns whether that was possible.
bool takeByteWeights(const Context& context, const Node& node, ByteOperands& operands) {
  const BytePlaces at = placesOf(node);
  const ValueId codes = node.input(at.b), zeros = node.input(at.bZero);
  if (!context.isConstant(codes) || (zeros.valid() && !context.isConstant(zeros))) return false;
  if (!isByteConv(node) && context.dimsOf(codes).size() != 2) return false;
  const std::uint8_t turn = signFlipOfA(context.typeOf(codes));
  operands.turnedZerosAreZero = zeros.valid() ? areAll(*context.constant(zeros), turn) : turn == 0;
  operands.weights = context.weight(codes);
  if (zeros.valid()) operands.weightZeros = context.weight(zeros);
  return true;
}

Result<std::optional<ByteOperands>> byteOperands(Context& context, const Node& node) {
  const std::optional<ByteOperands> none;
  ByteOperands operands;
  const BytePlaces at = placesOf(node);
  const ValueId left = node.input(at.a), right = node.input(at.b), zero = node.input(at.aZero);
  const Dims a = context.dimsOf(left), b = context.dimsOf(right);
  if (!isByteInteger(context.typeOf(left)) || !isByteInteger(context.typeOf(right)) || a.empty() || b.empty())
    return none;
  for (const ValueId value : {left, right, node.outputs[0]})
    if (elementCount(context.dimsOf(value)) == 0) return none;
  if (zero.valid() && elementCount(context.dimsOf(zero)) != 1) return none;
  if (!areByteZeros(context, node, node.input(at.bZero), right)) return none;
  const bool packed = takeByteWeights(context, node, operands);
  if (isByteConv(node)) {
    if (!packed || a.size() != 4) return none;
    const Window window = windowOf(node, a, context.dimsOf(node.outputs[0]), Dims(b.begin() + 2, b.end()));
    if (std::ranges::any_of(window.padBegin, [](std::int64_t pad) { return pad < 0; })) return none;
  }
  const auto read = [&](ValueId value) -> Result<Ref> {
    Ref from = TRY(context.plain(TRY(context.ref(value))));
    operands.reads.push_back(from.buffer);
    return from;
  };
  operands.from = TRY(read(left));
  if (zero.valid()) operands.zero = TRY(read(zero));
  if (packed) return std::optional(std::move(operands));
  operands.right = TRY(read(right));
  if (const ValueId zeros = node.input(at.bZero); zeros.valid()) operands.rightZeros = TRY(read(zeros));
  return std::optional(std::move(operands));
}

Result<bool> emitDynamicQuantize(Context& context, const Node& node) {
  const Ref x = TRY(context.plain(TRY(context.ref(node.input(0)))));
  std::vector<Ref> results;
  std::vector<BufferIndex> writes;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueId value = i < node.outputs.size() ? node.outputs[i] : ValueId();
    const bool wanted = value.valid() && context.request().values.contains(value);
    const DataType type = i == 1 ? DataType::F32 : DataType::U8;
    results.push_back(wanted ? context.allocate(value) : context.allocateScratch(type, i == 0 ? x.dims : Dims{}));
    if (wanted) context.define(value, results.back());
    writes.push_back(results.back().buffer);
  }
  context.chose({.kind = kDynamicQuantizeKernel});
  context.program().addStep(makeDynamicQuantizeStep(x, results[0], results[1], results[2], context.threads()),
                            {x.buffer}, writes);
  return true;
}

Result<bool> emitBytes(Context& context, const Node& node) {
  if (node.is("DynamicQuantizeLinear")) return emitDynamicQuantize(context, node);
  if (!node.is("MatMulInteger") && !isByteConv(node) && !requantises(node)) return false;
  if (requantises(node) && (context.dimsOf(node.input(3)).empty() || !canRequantize(context, node))) return false;
  const auto operands = TRY(byteOperands(context, node));
  if (!operands) return false;
  const ValueId result = node.outputs[0];
  const Ref sums =
      requantises(node) ? context.allocateScratch(DataType::I32, context.dimsOf(result)) : context.allocate(result);
  isByteConv(node) ? emitByteConv(context, node, *operands, sums) : emitByteProduct(context, *operands, sums);
  if (requantises(node))
    emitRequantize(context, node, sums);
  else
    context.define(result, sums);
  return true;
}

}  // namespace

extern const Emitter kBytesEmitter{.name = "bytes", .emit = emitBytes};

}  // namespace fusescope::native
