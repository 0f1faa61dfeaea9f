#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/resample_rows.h"
#include "backends/native/lowering/emitter.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kResizeKernel{.name = "resize"};

/// Resamples the middle axis of [outer, in, inner]: each place of the result is a weighted sum of places of the input.
class AxisStep {
 public:
  AxisStep(std::int64_t outer, std::int64_t in, std::int64_t inner, const std::vector<ops::Taps>& taps)
      : m_outer(outer), m_in(in), m_inner(inner), m_taps(taps), m_copies(copies(taps)) {
    if (m_inner == 1) m_line.emplace(m_taps, m_in);
  }

  /// Returns whether every place of the result is a copy of a place of the input.
  static bool copies(const std::vector<ops::Taps>& taps) {
    return std::ranges::all_of(taps, [](const ops::Taps& place) {
      return std::ranges::count_if(place, [](const auto& tap) { return tap.second != 0; }) == 1 &&
             std::ranges::any_of(place, [](const auto& tap) { return tap.second == 1; });
    });
  }

  std::int64_t outer() const { return m_outer; }
  std::int64_t results() const { return m_outer * out() * m_inner; }

  /// Resamples the part of index `o` of the outer axis.
  void run(const float* from, float* to, std::int64_t o) const {
    from += o * m_in * m_inner;
    to += o * out() * m_inner;
    if (m_line) return m_line->run(from, to);
    for (std::int64_t k = 0; k < out(); ++k) runPlace(from, to + k * m_inner, static_cast<std::size_t>(k));
  }

 private:
  std::int64_t out() const { return static_cast<std::int64_t>(m_taps.ends.size()); }

  void runPlace(const float* from, float* to, std::size_t k) const {
    const std::size_t first = k == 0 ? 0 : m_taps.ends[k - 1];
    if (m_copies) {
      std::copy_n(from + m_taps.places[first] * m_inner, m_inner, to);
      return;
    }
    weightedRows(from, m_inner, m_taps.places.data() + first, m_taps.weights.data() + first, m_taps.ends[k] - first,
                 to);
  }

  std::int64_t m_outer, m_in, m_inner;
  TapList m_taps;
  bool m_copies = false;                 ///< whether each place has one tap, of weight 1
  std::optional<LineResampling> m_line;  ///< set if the places of the axis are contiguous
};

/// Resamples one axis of a whole tensor.
class ResampleStep final : public Step {
 public:
  ResampleStep(Ref from, Ref to, AxisStep axis, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_axis(std::move(axis)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* from = elementsAt<const float>(m_from, memory);
    auto* to = elementsAt<float>(m_to, memory);
    forEach(m_axis.outer(), m_axis.results() > kFewElements ? m_threads : 1,
            [&](std::int64_t o) { m_axis.run(from, to, o); });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  AxisStep m_axis;
  int m_threads;
};

/// Resamples narrow floats: all axes of one plane, then the next plane, so that only one plane at a time is widened.
class PlaneResampleStep final : public Step {
 public:
  /// `axes` are the axes of a plane.
  PlaneResampleStep(Ref from, Ref to, std::int64_t planes, std::vector<AxisStep> axes, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_planes(planes), m_axes(std::move(axes)), m_threads(threads) {
    m_most = m_from.count() / m_planes;
    for (const AxisStep& axis : m_axes) m_most = std::max(m_most, axis.results());
  }

  std::size_t scratchBytes() const override { return 2 * bytes() * static_cast<std::size_t>(m_threads); }

  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t source = m_from.count() / m_planes, target = m_to.count() / m_planes;
    forEach(m_planes, m_to.count() > kFewElements ? m_threads : 1, [&](std::int64_t plane) {
      std::byte* mine = scratch + 2 * bytes() * static_cast<std::size_t>(omp_get_thread_num());
      auto *own = reinterpret_cast<float*>(mine), *next = reinterpret_cast<float*>(mine + bytes());
      const float* from = readFloats(m_from, memory, plane * source, source, own);
      for (const AxisStep& axis : m_axes) {
        const bool isLast = &axis == &m_axes.back();
        float* to = isLast ? placeFloats(m_to, memory, plane * target, next) : next;
        for (std::int64_t o = 0; o < axis.outer(); ++o) axis.run(from, to, o);
        if (isLast) storeFloats(m_to, memory, plane * target, target, to);
        from = next;
        std::swap(own, next);
      }
    });
    return Done{};
  }

 private:
  std::size_t bytes() const { return wholeLines(static_cast<std::size_t>(m_most) * sizeof(float)); }

  Ref m_from, m_to;
  std::int64_t m_planes, m_most = 0;
  std::vector<AxisStep> m_axes;
  int m_threads;
};

// Resamples axis by axis, in the order of the reference kernel. Weights are calculated while lowering, so that
// everything on which they depend must be constant. Codes of 8 bits are widened first, and the result is rounded as by
// a Cast. Extrapolation (tf_crop_and_resize) is left to the reference kernel, and so is cubic interpolation of codes,
// because it may leave their range.
Result<bool> emitResize(Context& context, const Node& node) {
  if (!node.is("Resize")) return false;
  const DataType type = context.typeOf(node.input(0));
  const bool ofCodes = isByteInteger(type);
  if (ofCodes ? node.textAttribute("mode", "nearest") == "cubic" : type != DataType::F32) return false;
  for (std::size_t i = 1; i < 4; ++i)
    if (node.input(i).valid() && !context.isConstant(node.input(i))) return false;
  const auto given = [&](std::size_t i) { return node.input(i).valid() ? context.constant(node.input(i)) : nullptr; };
  Dims dims = context.dimsOf(node.input(0));
  const auto request = TRY(ops::readResizeRequest(node, dims.size(), given(2), given(3)));
  std::vector<ops::AxisResampling> axes = TRY(ops::axisResamplings(node, dims, request, given(1)));
  std::erase_if(axes, [](const ops::AxisResampling& axis) { return axis.copies; });
  const auto extrapolates = [](const ops::AxisResampling& axis) {
    return std::ranges::any_of(axis.taps, &ops::Taps::empty);
  };
  if (axes.empty() || std::ranges::any_of(axes, extrapolates)) return false;
  // If places are only copied, the order of the axes does not matter. The last axis is then first, so that the others
  // move whole rows.
  const auto copies = [](const ops::AxisResampling& axis) { return AxisStep::copies(axis.taps); };
  if (std::ranges::all_of(axes, copies)) std::ranges::reverse(axes);
  Ref from = TRY(context.plain(TRY(context.seen(node.input(0)))));
  if (ofCodes) {
    const Ref codes = std::exchange(from, context.allocateScratch(DataType::F32, dims));
    TRY(context.convertType(codes, from));
  }
  const Ref target = ofCodes ? context.allocateScratch(DataType::F32, context.dimsOf(node.outputs[0]))
                             : context.allocate(node.outputs[0], {}, context.storedType(node.outputs[0]));
  const bool byPlanes = isNarrow(from.dtype) || isNarrow(target.dtype);
  std::size_t first = dims.size();  // the first axis of a plane
  for (const ops::AxisResampling& axis : axes) first = std::min(first, axis.axis);
  const std::int64_t planes = byPlanes ? productOf(dims, 0, first) : 1;
  std::vector<AxisStep> steps;
  for (const ops::AxisResampling& axis : axes) {
    const std::int64_t outer = productOf(dims, 0, axis.axis) / planes, inner = productOf(dims, axis.axis + 1);
    steps.emplace_back(outer, dims[axis.axis], inner, axis.taps);
    dims[axis.axis] = static_cast<std::int64_t>(axis.taps.size());
    if (byPlanes) continue;
    const Ref to = &axis == &axes.back() ? target : context.allocateScratch(DataType::F32, dims);
    context.program().addStep(std::make_unique<ResampleStep>(from, to, std::move(steps.back()), context.threads()),
                              {from.buffer}, {to.buffer});
    from = to;
  }
  if (byPlanes)
    context.program().addStep(
        std::make_unique<PlaneResampleStep>(from, target, planes, std::move(steps), context.threads()), {from.buffer},
        {target.buffer});
  const Ref result = ofCodes ? context.allocate(node.outputs[0]) : target;
  if (ofCodes) TRY(context.convertType(target, result));
  context.define(node.outputs[0], result);
  context.chose({.kind = kResizeKernel});
  return true;
}

}  // namespace

extern const Emitter kResizeEmitter{.name = "resize", .emit = emitResize};

}  // namespace fusescope::native
