#include <cstring>

#include "backends/native/kernels/parallel.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/lowering/tape_nodes.h"
#include "backends/native/steps/pointwise_step.h"
#include "planning/kernel_bindings.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kGatherKernel{.name = "gather"};

/// Gathers whole slices of `data` [outer, extent, slice] by indices. The output is [outer, indices, slice].
class GatherStep final : public Step {
 public:
  GatherStep(const Node& node, Ref data, Ref indices, Ref to, std::int64_t outer, std::int64_t extent,
             std::size_t sliceBytes, int threads)
      : m_name(node.name),
        m_data(std::move(data)),
        m_indices(std::move(indices)),
        m_to(std::move(to)),
        m_outer(outer),
        m_extent(extent),
        m_sliceBytes(sliceBytes),
        m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const std::byte* data = bytesAt(m_data, memory);
    const std::byte* indices = bytesAt(m_indices, memory);
    std::byte* to = bytesAt(m_to, memory);
    const std::int64_t count = m_indices.count();
    const bool wide = m_indices.dtype == DataType::I64;
    const auto index = [&](std::int64_t i) {
      const std::int64_t raw =
          wide ? reinterpret_cast<const std::int64_t*>(indices)[i] : reinterpret_cast<const std::int32_t*>(indices)[i];
      return raw < 0 ? raw + m_extent : raw;
    };
    for (std::int64_t i = 0; i < count; ++i) {
      if (index(i) >= 0 && index(i) < m_extent) continue;
      return Diagnostic{.message = "an index is outside the axis, whose extent is " + std::to_string(m_extent),
                        .where = {.node = m_name}};
    }
    const std::int64_t total = m_outer * count;
    const bool isLarge = total * static_cast<std::int64_t>(m_sliceBytes) > kFewBytes;
    forEach(total, isLarge ? m_threads : 1, [&](std::int64_t i) {
      const std::int64_t slice = i / count * m_extent + index(i % count);
      std::memcpy(to + static_cast<std::size_t>(i) * m_sliceBytes,
                  data + static_cast<std::size_t>(slice) * m_sliceBytes, m_sliceBytes);
    });
    return Done{};
  }

 private:
  std::string m_name;
  Ref m_data, m_indices, m_to;
  std::int64_t m_outer, m_extent;
  std::size_t m_sliceBytes;
  int m_threads;
};

/// Returns the DequantizeLinear of a constant, by one scale, whose result only `gather` reads, or null. Only the slices
/// that are gathered are then dequantised.
const Node* dequantizedTable(const Context& context, const Node& gather) {
  const NodeId bound = findTable(context.fused(), gather.id);
  if (!bound.valid() || !context.isFolded(bound)) return nullptr;
  const Node& table = context.node(bound);
  const bool oneScale = isTapeQuantization(context, table) && context.constantNumber(table.input(1)).has_value();
  return oneScale ? &table : nullptr;
}

/// Dequantises `codes` by the scale and the zero point of `node`, whichever codes `node` itself reads.
void dequantize(Context& context, const Node& node, const Ref& codes, const Ref& target) {
  const float zero = node.input(2).valid() ? context.constantNumber(node.input(2)).value_or(0) : 0;
  TapeProgram program{.extents = codes.dims,
                      .numbers = {{1, zero}, {2, context.constantNumber(node.input(1)).value()}},
                      .registers = 5};
  program.inputs.push_back({codes, rowMajorStrides(codes.dims), 0});
  program.outputs.push_back({target, rowMajorStrides(codes.dims), 4});
  program.code = {{.op = TapeOp::Sub, .target = 3, .a = 0, .b = 1}, {.op = TapeOp::Mul, .target = 4, .a = 3, .b = 2}};
  context.chose({.kind = kPointwiseKernel});
  context.program().addStep(makePointwiseStep(std::move(program), context.threads()), {codes.buffer}, {target.buffer});
}

Status emitRows(Context& context, const Node& node) {
  const Node* table = dequantizedTable(context, node);
  const Dims dims = context.dimsOf(node.input(0));
  std::int64_t axis = node.intAttribute("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  const std::size_t at = static_cast<std::size_t>(axis);
  const ValueId source = table != nullptr ? table->input(0) : node.input(0);
  const DataType stored = context.storedType(node.outputs[0]);
  const bool isNarrowed = table == nullptr && context.seenType(source) == stored;
  const Ref data = TRY(context.plain(TRY(isNarrowed ? context.seen(source) : context.ref(source))));
  const Ref indices = TRY(context.plain(TRY(context.ref(node.input(1)))));
  const Ref result = context.allocate(node.outputs[0], {}, isNarrowed ? stored : context.typeOf(node.outputs[0]));
  context.define(node.outputs[0], result);
  const Ref target = table != nullptr ? context.allocateScratch(data.dtype, result.dims) : result;
  context.chose({.kind = kGatherKernel});
  context.program().addStep(
      std::make_unique<GatherStep>(node, data, indices, target, productOf(dims, 0, at), dims[at],
                                   byteSize(data.dtype, productOf(dims, at + 1)), context.threads()),
      {data.buffer, indices.buffer}, {target.buffer});
  if (table != nullptr) dequantize(context, *table, target, result);
  return Done{};
}

Result<bool> emitGather(Context& context, const Node& node) {
  if (!node.is("Gather") || context.typeOf(node.input(0)) != context.typeOf(node.outputs[0])) return false;
  const DataType index = context.typeOf(node.input(1));
  if ((index != DataType::I64 && index != DataType::I32) || context.dimsOf(node.input(0)).empty()) return false;
  TRY(emitRows(context, node));
  return true;
}

}  // namespace

extern const Emitter kGatherEmitter{.name = "gather", .emit = emitGather};

}  // namespace fusescope::native
