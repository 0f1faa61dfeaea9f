#include <algorithm>

#include "backends/native/lowering.h"
#include "backends/native/resample_rows.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelCount = 16 * 1024;

/// Resamples the middle axis of plain [outer, in, inner]: each output place is a weighted sum of input places.
class ResampleStep final : public Step {
 public:
  ResampleStep(Ref from, Ref to, std::int64_t outer, std::int64_t inner, const std::vector<ops::Taps>& taps,
               int threads)
      : m_from(std::move(from)),
        m_to(std::move(to)),
        m_outer(outer),
        m_inner(inner),
        m_in(m_from.dims.empty() || outer * inner == 0 ? 0 : m_from.count() / (outer * inner)),
        m_threads(threads),
        m_taps(taps),
        m_copies(copies(taps)) {
    if (m_inner == 1) m_line.emplace(m_taps, m_in);
  }

  /// Whether every place is just one of the input.
  static bool copies(const std::vector<ops::Taps>& taps) {
    return std::ranges::all_of(taps, [](const ops::Taps& place) {
      return std::ranges::count_if(place, [](const auto& tap) { return tap.second != 0; }) == 1 &&
             std::ranges::any_of(place, [](const auto& tap) { return tap.second == 1; });
    });
  }

  Status run(Memory memory, std::byte*) const override {
    const auto* from = elementsAt<const float>(m_from, memory);
    auto* to = elementsAt<float>(m_to, memory);
    const auto out = static_cast<std::int64_t>(m_taps.ends.size());
#pragma omp parallel for schedule(static) num_threads(m_threads) if (m_outer * out * m_inner > kParallelCount)
    for (std::int64_t o = 0; o < m_outer; ++o) {
      const float* source = from + o * m_in * m_inner;
      float* target = to + o * out * m_inner;
      if (m_line) {
        m_line->run(source, target);
        continue;
      }
      for (std::int64_t k = 0; k < out; ++k) runPlace(source, target + k * m_inner, static_cast<std::size_t>(k));
    }
    return Done{};
  }

 private:
  void runPlace(const float* from, float* to, std::size_t k) const {
    const std::size_t first = k == 0 ? 0 : m_taps.ends[k - 1];
    if (m_copies) {
      std::copy_n(from + m_taps.places[first] * m_inner, m_inner, to);
      return;
    }
    weightedRows(from, m_inner, m_taps.places.data() + first, m_taps.weights.data() + first, m_taps.ends[k] - first,
                 to);
  }

  Ref m_from, m_to;
  std::int64_t m_outer, m_inner, m_in;
  int m_threads;
  TapList m_taps;
  bool m_copies = false;                 ///< one tap of weight 1 each
  std::optional<LineResampling> m_line;  ///< where the places lie next to each other
};

}  // namespace

// One step per axis that changes, in the order of the reference. Weights are made here, so what they depend on must be
// constant. Extrapolated places (tf_crop_and_resize) are left to the reference.
Result<bool> Lowering::lowerResize(const Node& node) {
  if (!node.is("Resize") || typeOf(node.input(0)) != DataType::F32) return false;
  for (std::size_t i = 1; i < 4; ++i)
    if (node.input(i).valid() && !isConstant(node.input(i))) return false;
  const auto given = [&](std::size_t i) { return node.input(i).valid() ? constant(node.input(i)) : nullptr; };
  Dims dims = dimsOf(node.input(0));
  const auto wish = TRY(ops::readResizeWish(node, dims.size(), given(2), given(3)));
  std::vector<ops::AxisResampling> axes = TRY(ops::axisResamplings(node, dims, wish, given(1)));
  std::erase_if(axes, [](const ops::AxisResampling& axis) { return axis.copies; });
  const auto extrapolates = [](const ops::AxisResampling& axis) {
    return std::ranges::any_of(axis.taps, &ops::Taps::empty);
  };
  if (axes.empty() || std::ranges::any_of(axes, extrapolates)) return false;
  // Copies give the same in any order: the last axis first, so that what follows moves whole rows.
  const auto copies = [](const ops::AxisResampling& axis) { return ResampleStep::copies(axis.taps); };
  if (std::ranges::all_of(axes, copies)) std::ranges::reverse(axes);
  Ref from = TRY(plain(TRY(ref(node.input(0)))));
  const Ref target = allocate(node.outputs[0]);
  for (const ops::AxisResampling& axis : axes) {
    const std::int64_t outer = productOf(dims, 0, axis.axis), inner = productOf(dims, axis.axis + 1);
    dims[axis.axis] = static_cast<std::int64_t>(axis.taps.size());
    const Ref to = &axis == &axes.back() ? target : allocateScratch(DataType::F32, dims);
    m_program.addStep(std::make_unique<ResampleStep>(from, to, outer, inner, axis.taps, m_threads), {from.buffer},
                      {to.buffer});
    from = to;
  }
  define(node.outputs[0], target);
  m_implementations.push_back("resize");
  return true;
}

}  // namespace fusescope::native
