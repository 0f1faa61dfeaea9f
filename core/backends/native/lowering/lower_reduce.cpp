#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/rows.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/lowering/reduced_axes.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kReduceKernel{.name = "reduce"};

/// The extents of a reduction, as [outer, count, inner] in the order of memory: `count` elements are reduced to one.
struct ReduceExtents {
  std::int64_t outer = 1, count = 1, inner = 1;
};

class ReduceStep final : public Step {
 public:
  ReduceStep(Ref from, Ref to, ReduceExtents extents, ReduceKind kind, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_extents(extents), m_kind(kind), m_threads(threads) {}
  std::size_t scratchBytes() const override {
    return rowBytes(m_to, m_to, m_extents.inner) * static_cast<std::size_t>(m_threads);
  }
  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t outer = m_extents.outer, count = m_extents.count, inner = m_extents.inner;
    const std::size_t bytes = rowBytes(m_to, m_to, inner);
    forEach(outer, outer * count * inner > kFewElements ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes * static_cast<std::size_t>(omp_get_thread_num()));
      const Floats from = floatsAt(m_from, memory, i * count * inner);
      float* to = placeFloats(m_to, memory, i * inner, own);
      if (inner == 1) {
        *to = reduceRow(from, count, m_kind);
      } else {
        reduceColumns(from, count, inner, m_kind, to);
      }
      storeFloats(m_to, memory, i * inner, inner, to);
    });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  ReduceExtents m_extents;
  ReduceKind m_kind;
  int m_threads;
};

std::optional<ReduceKind> reduceKind(const Node& node) {
  static const std::map<std::string, ReduceKind, std::less<>> kKinds = {{"ReduceSum", ReduceKind::Sum},
                                                                        {"ReduceMean", ReduceKind::Mean},
                                                                        {"ReduceMax", ReduceKind::Max},
                                                                        {"ReduceMin", ReduceKind::Min},
                                                                        {"ReduceProd", ReduceKind::Prod},
                                                                        {"ReduceSumSquare", ReduceKind::SumSquare},
                                                                        {"ReduceL1", ReduceKind::L1},
                                                                        {"ReduceL2", ReduceKind::L2},
                                                                        {"ReduceLogSum", ReduceKind::LogSum},
                                                                        {"ReduceLogSumExp", ReduceKind::LogSumExp},
                                                                        {"GlobalAveragePool", ReduceKind::Mean},
                                                                        {"GlobalMaxPool", ReduceKind::Max}};
  const auto it = kKinds.find(node.op);
  return it == kKinds.end() ? std::nullopt : std::optional(it->second);
}

bool reducesByColumns(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean || kind == ReduceKind::Max || kind == ReduceKind::Min ||
         kind == ReduceKind::SumSquare;
}

/// Returns the extents for the spatial axes of a tensor in a channels-last or blocked format: channels that are
/// contiguous remain columns.
std::optional<ReduceExtents> spatialExtents(const Ref& ref, const std::vector<bool>& reduced) {
  const Dims& dims = ref.dims;
  if (ref.format.isPlain() || dims.size() < 3 || reduced[0] || reduced[1]) return std::nullopt;
  if (!std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; })) return std::nullopt;
  const std::int64_t together = ref.format.isChannelsLast() ? dims[1] : ref.format.blockOf(1);
  if (dims[1] % together != 0) return std::nullopt;
  return ReduceExtents{dims[0] * dims[1] / together, productOf(dims, 2), together};
}

/// Returns the extents if the reduced axes of a row-major tensor are adjacent, where axes of extent 1 do not count.
std::optional<ReduceExtents> adjacentExtents(const Dims& dims, const std::vector<bool>& reduced) {
  std::size_t first = 0, last = 0, runs = 0;  // first, last and number of runs of reduced axes
  bool before = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (reduced[i] && !before) first = i, ++runs;
    if (reduced[i]) last = i;
    before = reduced[i];
  }
  if (runs > 1) return std::nullopt;
  if (runs == 0) return ReduceExtents{.outer = productOf(dims, 0)};
  return ReduceExtents{productOf(dims, 0, first), productOf(dims, first, last + 1), productOf(dims, last + 1)};
}

/// Returns the same elements with the reduced axes at the end.
Ref withReducedLast(const Ref& ref, const std::vector<bool>& reduced) {
  Ref moved{.buffer = ref.buffer, .offset = ref.offset, .dtype = ref.dtype};
  for (const bool wanted : {false, true}) {
    for (std::size_t i = 0; i < ref.dims.size(); ++i) {
      if (reduced[i] != wanted) continue;
      moved.dims.push_back(ref.dims[i]);
      moved.strides.push_back(ref.strides[i]);
    }
  }
  return moved;
}

// If the reduced axes are adjacent and come before others, they are reduced column by column where they are; spatial
// axes in a channels-last or blocked format are such a case. Otherwise the reduced axes are moved to the end (by a
// copy, unless they are already there) and reduced row by row.
Result<bool> emitReduce(Context& context, const Node& node) {
  const auto kind = node.domain.empty() ? reduceKind(node) : std::nullopt;
  if (!kind || context.typeOf(node.input(0)) != DataType::F32) return false;
  const Dims dims = context.dimsOf(node.input(0));
  const auto reduced = reducedAxes(context, node, dims.size());
  if (!reduced || elementCount(dims).value_or(0) == 0) return false;
  Ref source = TRY(context.seen(node.input(0)));
  const Ref to = context.allocate(node.outputs[0], {}, context.storedType(node.outputs[0]));
  context.define(node.outputs[0], to);
  context.chose({.kind = kReduceKernel});
  const bool byColumns = reducesByColumns(*kind);
  std::optional<ReduceExtents> extents;
  if (byColumns) extents = spatialExtents(source, *reduced);
  if (!extents) {
    source = TRY(context.plain(source));
    extents = adjacentExtents(source.dims, *reduced);
  }
  if (!extents || (extents->inner != 1 && !byColumns)) {
    source = TRY(context.plain(withReducedLast(source, *reduced)));
    const auto kept = static_cast<std::size_t>(std::count(reduced->begin(), reduced->end(), false));
    extents = {.outer = productOf(source.dims, 0, kept), .count = productOf(source.dims, kept)};
  }
  context.program().addStep(std::make_unique<ReduceStep>(source, to, *extents, *kind, context.threads()),
                            {source.buffer}, {to.buffer});
  return true;
}

}  // namespace

extern const Emitter kReduceEmitter{.name = "reduce", .emit = emitReduce};

}  // namespace fusescope::native
