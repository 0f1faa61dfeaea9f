#include <omp.h>

#include <algorithm>

#include "backends/native/float_rows.h"
#include "backends/native/lowering.h"
#include "backends/native/norm_step.h"
#include "backends/native/parallel.h"
#include "backends/native/rows.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelCount = 16 * 1024;

class SoftmaxStep final : public Step {
 public:
  SoftmaxStep(Ref from, Ref to, std::int64_t count, bool logarithm, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_count(count), m_logarithm(logarithm), m_threads(threads) {}
  std::size_t scratchBytes() const override {
    return rowBytes(m_from, m_to, m_count) * static_cast<std::size_t>(m_threads);
  }
  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t total = m_from.count();
    const std::int64_t rows = m_count == 0 ? 0 : total / m_count;
    const std::size_t bytes = rowBytes(m_from, m_to, m_count);
    forEach(rows, total > kParallelCount ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes * static_cast<std::size_t>(omp_get_thread_num()));
      float* to = placeFloats(m_to, memory, i * m_count, own);
      softmaxRow(readFloats(m_from, memory, i * m_count, m_count, own), to, m_count, m_logarithm);
      storeFloats(m_to, memory, i * m_count, m_count, to);
    });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  std::int64_t m_count;
  bool m_logarithm;
  int m_threads;
};

/// A softmax over the middle axis of a row-major [outer, count, inner], some columns at a time.
class ColumnSoftmaxStep final : public Step {
 public:
  ColumnSoftmaxStep(Ref from, Ref to, std::size_t axis, bool logarithm, int threads)
      : m_from(std::move(from)),
        m_to(std::move(to)),
        m_outer(productOf(m_from.dims, 0, axis)),
        m_count(m_from.dims[axis]),
        m_inner(productOf(m_from.dims, axis + 1)),
        m_logarithm(logarithm),
        m_threads(threads) {}
  std::size_t scratchBytes() const override { return bytes() * static_cast<std::size_t>(m_threads); }
  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t width = columnBlock(), blocks = (m_inner + width - 1) / width;
    forEach(m_outer * blocks, m_from.count() > kParallelCount ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes() * static_cast<std::size_t>(omp_get_thread_num()));
      const std::int64_t first = i % blocks * width, at = i / blocks * m_count * m_inner + first;
      softmaxColumns(floatsAt(m_from, memory, at), floatsAt(m_to, memory, at), m_count, m_inner,
                     std::min(width, m_inner - first), m_logarithm, own);
    });
    return Done{};
  }

 private:
  std::size_t bytes() const { return wholeLines(static_cast<std::size_t>(m_count * columnBlock()) * sizeof(float)); }

  Ref m_from, m_to;
  std::int64_t m_outer, m_count, m_inner;
  bool m_logarithm;
  int m_threads;
};

/// What is reduced, as [outer, count, inner] in the order of memory: `count` is taken together.
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
    forEach(outer, outer * count * inner > kParallelCount ? m_threads : 1, [&](std::int64_t i) {
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

/// For the spatial axes of a tensor in a channels-last or blocked format: the channels that lie together stay columns.
std::optional<ReduceExtents> spatialExtents(const Ref& ref, const std::vector<bool>& reduced) {
  const Dims& dims = ref.dims;
  if (ref.format.isPlain() || dims.size() < 3 || reduced[0] || reduced[1]) return std::nullopt;
  if (!std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; })) return std::nullopt;
  const std::int64_t together = ref.format.isChannelsLast() ? dims[1] : ref.format.blockOf(1);
  if (dims[1] % together != 0) return std::nullopt;
  return ReduceExtents{dims[0] * dims[1] / together, productOf(dims, 2), together};
}

/// For axes that stand together in a row-major tensor, extents of 1 not counted.
std::optional<ReduceExtents> adjacentExtents(const Dims& dims, const std::vector<bool>& reduced) {
  std::size_t first = 0, last = 0, runs = 0;  // of the reduced axes
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

/// The same elements with the reduced axes moved to the end.
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

}  // namespace

Status Lowering::lowerSoftmax(const Node& node, std::size_t axis) {
  const Dims dims = dimsOf(node.input(0));
  const bool last = productOf(dims, axis + 1) == 1;
  const bool logarithm = node.is("LogSoftmax");
  const Ref from = TRY(plain(TRY(seen(node.input(0)))));
  const Ref to = allocate(node.outputs[0], {}, storedType(node.outputs[0]));
  std::unique_ptr<Step> step;
  if (last) {
    step = std::make_unique<SoftmaxStep>(from, to, dims[axis], logarithm, m_threads);
  } else {
    step = std::make_unique<ColumnSoftmaxStep>(from, to, axis, logarithm, m_threads);
  }
  m_program.addStep(std::move(step), {from.buffer}, {to.buffer});
  define(node.outputs[0], to);
  m_implementations.push_back("softmax");
  return Done{};
}

Result<bool> Lowering::lowerRows(const Node& node) {
  if (!node.is("Softmax") && !node.is("LogSoftmax")) return false;
  const Dims dims = dimsOf(node.input(0));
  if (typeOf(node.input(0)) != DataType::F32 || dims.empty()) return false;
  TRY(lowerSoftmax(node, positiveAxis(node.intAttribute("axis", -1), dims.size())));
  return true;
}

std::optional<std::vector<bool>> Lowering::reducedAxes(const Node& reduce, std::size_t rank) const {
  std::vector<bool> reduced(rank, false);
  if (reduce.op.starts_with("Global")) {
    for (std::size_t i = 2; i < rank; ++i) reduced[i] = true;
    return reduced;
  }
  std::vector<std::int64_t> axes = reduce.intsAttribute("axes");
  if (reduce.input(1).valid()) {
    const Tensor* tensor = constant(reduce.input(1));
    if (tensor == nullptr) return std::nullopt;
    axes = int64Values(*tensor);
  }
  if (axes.empty() && reduce.intAttribute("noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes.empty()) reduced.assign(rank, true);
  for (const std::int64_t axis : axes) reduced[positiveAxis(axis, rank)] = true;
  return reduced;
}

// The reduced axes are brought together at the end (by a copy, unless they are there) and reduced row by row; when they
// stand together before others they are reduced column by column where they are. Spatial axes in a channels-last or
// blocked format are such a case.
Result<bool> Lowering::lowerReduce(const Node& node) {
  const auto kind = reduceKind(node);
  if (!kind || typeOf(node.input(0)) != DataType::F32) return false;
  Ref source = TRY(seen(node.input(0)));
  const auto reduced = reducedAxes(node, source.dims.size());
  if (!reduced || source.count() == 0) return false;
  const Ref to = allocate(node.outputs[0], {}, storedType(node.outputs[0]));
  define(node.outputs[0], to);
  m_implementations.push_back("reduce");
  const bool byColumns = reducesByColumns(*kind);
  std::optional<ReduceExtents> extents;
  if (byColumns) extents = spatialExtents(source, *reduced);
  if (!extents) {
    source = TRY(plain(source));
    extents = adjacentExtents(source.dims, *reduced);
  }
  if (!extents || (extents->inner != 1 && !byColumns)) {
    source = TRY(plain(withReducedLast(source, *reduced)));
    const auto kept = static_cast<std::size_t>(std::count(reduced->begin(), reduced->end(), false));
    extents = {.outer = productOf(source.dims, 0, kept), .count = productOf(source.dims, kept)};
  }
  m_program.addStep(std::make_unique<ReduceStep>(source, to, *extents, *kind, m_threads), {source.buffer}, {to.buffer});
  return true;
}

}  // namespace fusescope::native
