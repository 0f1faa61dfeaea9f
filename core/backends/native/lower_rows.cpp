#include <algorithm>

#include "backends/native/lowering.h"
#include "backends/native/rows.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelCount = 16 * 1024;

class SoftmaxStep final : public Step {
 public:
  SoftmaxStep(Ref from, Ref to, std::int64_t count, bool logarithm, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_count(count), m_logarithm(logarithm), m_threads(threads) {}
  Status run(Memory memory, std::byte*) override {
    const float* from = elementsAt<float>(m_from, memory);
    float* to = elementsAt<float>(m_to, memory);
    const std::int64_t total = m_from.count();
    const std::int64_t rows = m_count == 0 ? 0 : total / m_count;
#pragma omp parallel for schedule(static) num_threads(m_threads) if (total > kParallelCount)
    for (std::int64_t i = 0; i < rows; ++i) softmaxRow(from + i * m_count, to + i * m_count, m_count, m_logarithm);
    return Done{};
  }

 private:
  Ref m_from, m_to;
  std::int64_t m_count;
  bool m_logarithm;
  int m_threads;
};

/// Operands of a normalisation over the last `count` elements.
struct NormOperands {
  Ref from, to;
  std::optional<Ref> scale, bias, mean, inverse;
  std::int64_t count = 1;
  float epsilon = 0;
  bool centred = true;
};

class NormStep final : public Step {
 public:
  NormStep(NormOperands operands, int threads) : m_operands(std::move(operands)), m_threads(threads) {}
  Status run(Memory memory, std::byte*) override {
    const NormOperands& at = m_operands;
    const float* from = elementsAt<float>(at.from, memory);
    float* to = elementsAt<float>(at.to, memory);
    const NormRow how{.scale = at.scale ? elementsAt<float>(*at.scale, memory) : nullptr,
                      .bias = at.bias ? elementsAt<float>(*at.bias, memory) : nullptr,
                      .epsilon = at.epsilon,
                      .centred = at.centred};
    float* means = at.mean ? elementsAt<float>(*at.mean, memory) : nullptr;
    float* inverses = at.inverse ? elementsAt<float>(*at.inverse, memory) : nullptr;
    const std::int64_t total = at.from.count();
    const std::int64_t rows = at.count == 0 ? 0 : total / at.count;
#pragma omp parallel for schedule(static) num_threads(m_threads) if (total > kParallelCount)
    for (std::int64_t i = 0; i < rows; ++i) {
      normRow(from + i * at.count, to + i * at.count, at.count, how, means == nullptr ? nullptr : means + i,
              inverses == nullptr ? nullptr : inverses + i);
    }
    return Done{};
  }

 private:
  NormOperands m_operands;
  int m_threads;
};

class ReduceStep final : public Step {
 public:
  ReduceStep(Ref from, Ref to, std::int64_t outer, std::int64_t count, std::int64_t inner, ReduceKind kind, int threads)
      : m_from(std::move(from)),
        m_to(std::move(to)),
        m_outer(outer),
        m_count(count),
        m_inner(inner),
        m_kind(kind),
        m_threads(threads) {}
  Status run(Memory memory, std::byte*) override {
    const float* from = elementsAt<float>(m_from, memory);
    float* to = elementsAt<float>(m_to, memory);
#pragma omp parallel for schedule(static) num_threads(m_threads) if (m_outer * m_count * m_inner > kParallelCount)
    for (std::int64_t i = 0; i < m_outer; ++i) {
      if (m_inner == 1) {
        to[i] = reduceRow(from + i * m_count, m_count, m_kind);
      } else {
        reduceColumns(from + i * m_count * m_inner, m_count, m_inner, m_kind, to + i * m_inner);
      }
    }
    return Done{};
  }

 private:
  Ref m_from, m_to;
  std::int64_t m_outer, m_count, m_inner;
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

/// The same elements with one axis moved to the end.
Ref withAxisLast(Ref ref, std::size_t axis) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  std::rotate(ref.dims.begin() + at, ref.dims.begin() + at + 1, ref.dims.end());
  std::rotate(ref.strides.begin() + at, ref.strides.begin() + at + 1, ref.strides.end());
  return ref;
}

std::size_t positiveAxis(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace

// An axis that is not the last one is brought there by a copy, and back.
Status Lowering::lowerSoftmax(const Node& node, std::size_t axis) {
  const Dims dims = dimsOf(node.input(0));
  const bool last = productOf(dims, axis + 1) == 1;
  Ref from = TRY(plain(TRY(ref(node.input(0)))));
  const Ref target = allocate(node.outputs[0]);
  if (!last) from = TRY(plain(withAxisLast(from, axis)));
  const Ref to = last ? target : allocateScratch(DataType::F32, from.dims);
  m_program.addStep(std::make_unique<SoftmaxStep>(from, to, dims[axis], node.is("LogSoftmax"), m_threads),
                    {from.buffer}, {to.buffer});
  if (!last) copyStrided(to, withAxisLast(target, axis));
  define(node.outputs[0], target);
  m_implementations.push_back("softmax");
  return Done{};
}

Result<bool> Lowering::lowerRows(const Node& node) {
  const bool softmax = node.is("Softmax") || node.is("LogSoftmax");
  const bool norm = node.is("LayerNormalization") || node.is("RMSNormalization");
  if (!softmax && !norm) return false;
  if (typeOf(node.input(0)) != DataType::F32 || dimsOf(node.input(0)).empty()) return false;
  const Dims dims = dimsOf(node.input(0));
  const std::size_t axis = positiveAxis(node.intAttribute("axis", -1), dims.size());
  if (softmax) {
    TRY(lowerSoftmax(node, axis));
    return true;
  }
  NormOperands operands{.count = productOf(dims, axis),
                        .epsilon = node.floatAttribute("epsilon", 1e-5f),
                        .centred = node.is("LayerNormalization")};
  for (std::size_t i = 1; i < 3; ++i) {
    if (node.input(i).valid() && elementCount(dimsOf(node.input(i))) != operands.count) return false;
  }
  operands.from = TRY(plain(TRY(ref(node.input(0)))));
  std::vector<BufferIndex> reads = {operands.from.buffer}, writes;
  for (std::size_t i = 1; i < 3; ++i) {
    if (!node.input(i).valid()) continue;
    const Ref parameter = TRY(plain(TRY(ref(node.input(i)))));
    reads.push_back(parameter.buffer);
    (i == 1 ? operands.scale : operands.bias) = parameter;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid() || (i > 0 && !m_request.values.contains(node.outputs[i]))) continue;
    const Ref to = allocate(node.outputs[i]);
    define(node.outputs[i], to);
    writes.push_back(to.buffer);
    if (i == 0) operands.to = to;
    if (i == 1) operands.mean = to;
    if (i == 2) operands.inverse = to;
  }
  m_implementations.push_back(operands.centred ? "layer_norm" : "rms_norm");
  m_program.addStep(std::make_unique<NormStep>(std::move(operands), m_threads), reads, writes);
  return true;
}

// The reduced axes are brought together at the end (by a copy, unless they are there) and reduced row by row; when they
// stand together before others they are reduced column by column where they are. Spatial axes in a channels-last or
// blocked layout are such a case.
Result<bool> Lowering::lowerReduce(const Node& node) {
  const auto kind = reduceKind(node);
  if (!kind || typeOf(node.input(0)) != DataType::F32) return false;
  Ref source = TRY(ref(node.input(0)));
  const Dims dims = source.dims;
  std::vector<bool> reduced(dims.size(), false);
  if (node.op.starts_with("Global")) {
    for (std::size_t i = 2; i < dims.size(); ++i) reduced[i] = true;
  } else {
    std::vector<std::int64_t> axes = node.intsAttribute("axes");
    if (node.input(1).valid()) {
      const Tensor* tensor = constant(node.input(1));
      if (tensor == nullptr) return false;
      axes = int64Values(*tensor);
    }
    if (axes.empty() && node.intAttribute("noop_with_empty_axes", 0) != 0) return false;
    if (axes.empty()) reduced.assign(dims.size(), true);
    for (std::int64_t axis : axes) reduced[positiveAxis(axis, dims.size())] = true;
  }
  std::int64_t count = 1, kept = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) (reduced[i] ? count : kept) *= dims[i];
  if (count == 0 || kept == 0) return false;
  Ref to = allocate(node.outputs[0]);
  const bool spatial = dims.size() > 2 && !reduced[0] && !reduced[1] &&
                       std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; });
  const std::int64_t block = source.layout == Layout::Blocked8    ? 8
                             : source.layout == Layout::Blocked16 ? 16
                             : dims.size() > 1                    ? dims[1]
                                                                  : 1;
  define(node.outputs[0], to);
  m_implementations.push_back("reduce");
  if (source.layout != Layout::Plain && spatial && dims[1] % block == 0 && reducesByColumns(*kind)) {
    m_program.addStep(
        std::make_unique<ReduceStep>(source, to, dims[0] * dims[1] / block, count, block, *kind, m_threads),
        {source.buffer}, {to.buffer});
    return true;
  }
  source = TRY(plain(source));
  std::size_t first = 0, last = 0, changes = 0;  // of the reduced axes, extents of 1 not counted
  bool before = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (reduced[i] && !before) first = i, ++changes;
    if (reduced[i]) last = i;
    before = reduced[i];
  }
  const std::int64_t inner = changes == 0 ? 1 : productOf(dims, last + 1);
  if (changes <= 1 && (inner == 1 || reducesByColumns(*kind))) {
    const std::int64_t outer = changes == 0 ? kept : productOf(dims, 0, first);
    m_program.addStep(std::make_unique<ReduceStep>(source, to, outer, count, inner, *kind, m_threads), {source.buffer},
                      {to.buffer});
    return true;
  }
  Ref moved{.buffer = source.buffer, .offset = source.offset, .dtype = source.dtype};
  for (bool wanted : {false, true}) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (reduced[i] != wanted) continue;
      moved.dims.push_back(dims[i]);
      moved.strides.push_back(source.strides[i]);
    }
  }
  const Ref rows = TRY(plain(moved));
  m_program.addStep(std::make_unique<ReduceStep>(rows, to, kept, count, 1, *kind, m_threads), {rows.buffer},
                    {to.buffer});
  return true;
}

}  // namespace fusescope::native
