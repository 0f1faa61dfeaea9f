#include <cstring>

#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kGatherNdKernel{.name = "gather_nd"};

/// The operands, which are plain. `indices` are int64; their last extent is the length of an index tuple.
struct GatherNd {
  Ref data, indices, to;
  std::int64_t batches = 1;  ///< product of the batch extents
  std::int64_t tuplesPerBatch = 0;
  Dims extents, strides;         ///< of the axes that a tuple indexes; strides are in elements
  std::int64_t batchStride = 0;  ///< elements of data in one batch
  std::int64_t slice = 1;        ///< elements that one tuple picks
};

class GatherNdStep final : public Step {
 public:
  explicit GatherNdStep(GatherNd at) : m_at(std::move(at)) {}
  Status run(Memory memory, std::byte*) const override {
    const std::byte* data = bytesAt(m_at.data, memory);
    const auto* indices = elementsAt<const std::int64_t>(m_at.indices, memory);
    std::byte* to = bytesAt(m_at.to, memory);
    const std::size_t bytes = byteSize(m_at.data.dtype, m_at.slice);
    for (std::int64_t tuple = 0; tuple < m_at.batches * m_at.tuplesPerBatch; ++tuple) {
      std::int64_t offset = tuple / m_at.tuplesPerBatch * m_at.batchStride;
      for (std::size_t k = 0; k < m_at.extents.size(); ++k) {
        std::int64_t index = *indices++;
        if (index < -m_at.extents[k] || index >= m_at.extents[k])
          return Diagnostic{.message = "index " + std::to_string(index) + " is outside an axis of extent " +
                                       std::to_string(m_at.extents[k])};
        if (index < 0) index += m_at.extents[k];
        offset += index * m_at.strides[k];
      }
      std::memcpy(to, data + byteSize(m_at.data.dtype, offset), bytes);
      to += bytes;
    }
    return Done{};
  }

 private:
  GatherNd m_at;
};

Result<bool> emitGatherNd(Context& context, const Node& node) {
  if (!node.is("GatherND") || context.typeOf(node.input(1)) != DataType::I64) return false;
  if (context.typeOf(node.input(0)) != context.typeOf(node.outputs[0]) ||
      byteSize(context.typeOf(node.input(0)), 2) < 2)
    return false;
  const Dims data = context.dimsOf(node.input(0)), indices = context.dimsOf(node.input(1));
  const auto batchAxes = static_cast<std::size_t>(node.intAttribute("batch_dims", 0));
  const auto tuple = static_cast<std::size_t>(indices.back());
  const DataType stored = context.storedType(node.outputs[0]);
  const bool isNarrowed = context.seenType(node.input(0)) == stored;
  GatherNd at{.data = TRY(context.plain(TRY(isNarrowed ? context.seen(node.input(0)) : context.ref(node.input(0))))),
              .indices = TRY(context.plain(TRY(context.ref(node.input(1))))),
              .to = context.allocate(node.outputs[0], {}, isNarrowed ? stored : context.typeOf(node.outputs[0])),
              .batches = productOf(data, 0, batchAxes),
              .tuplesPerBatch = productOf(indices, batchAxes, indices.size() - 1),
              .batchStride = productOf(data, batchAxes),
              .slice = productOf(data, batchAxes + tuple)};
  const Dims strides = rowMajorStrides(data);
  for (std::size_t i = batchAxes; i < batchAxes + tuple; ++i) {
    at.extents.push_back(data[i]);
    at.strides.push_back(strides[i]);
  }
  context.define(node.outputs[0], at.to);
  context.chose({.kind = kGatherNdKernel});
  const std::vector<BufferIndex> reads{at.data.buffer, at.indices.buffer}, writes{at.to.buffer};
  context.program().addStep(std::make_unique<GatherNdStep>(std::move(at)), reads, writes);
  return true;
}

}  // namespace

extern const Emitter kGatherNdEmitter{.name = "gather_nd", .emit = emitGatherNd};

}  // namespace fusescope::native
