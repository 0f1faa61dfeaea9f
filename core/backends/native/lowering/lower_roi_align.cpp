#include <cmath>

#include "backends/native/kernels/parallel.h"
#include "backends/native/lowering/emitter.h"
#include "ops/support/region_sampling.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kRoiAlignKernel{.name = "roi_align"};

/// The operands, which are plain: images [n, c, h, w], regions [r, 4], the image of each region (int64), bins [r, c,
/// down, across].
struct RoiAlign {
  Ref images, regions, batch, to;
  ops::RoiAlignForm form;
};

class RoiAlignStep final : public Step {
 public:
  RoiAlignStep(RoiAlign at, int threads) : m_at(std::move(at)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const Dims &images = m_at.images.dims, &bins = m_at.to.dims;
    const auto* regions = elementsAt<const float>(m_at.regions, memory);
    const auto* batch = elementsAt<const std::int64_t>(m_at.batch, memory);
    for (std::int64_t r = 0; r < bins[0]; ++r) {
      const std::int64_t image = TRY(ops::imageOfRegion(static_cast<double>(batch[r]), images[0]));
      double region[4];
      for (std::int64_t k = 0; k < 4; ++k) region[k] = static_cast<double>(regions[r * 4 + k]);
      const ops::RegionSamples samples =
          TRY(ops::regionSamples(m_at.form, region, bins[2], bins[3], images[2], images[3]));
      pool(samples, elementsAt<const float>(m_at.images, memory) + image * images[1] * images[2] * images[3],
           elementsAt<float>(m_at.to, memory) + r * bins[1] * bins[2] * bins[3]);
    }
    return Done{};
  }

 private:
  /// Pools all channels of one region.
  void pool(const ops::RegionSamples& of, const float* image, float* to) const {
    const std::int64_t channels = m_at.to.dims[1], bins = m_at.to.dims[2] * m_at.to.dims[3];
    const std::int64_t pixels = m_at.images.dims[2] * m_at.images.dims[3];
    forEach(channels, m_threads, [&](std::int64_t c) {
      for (std::int64_t bin = 0; bin < bins; ++bin)
        to[c * bins + bin] = static_cast<float>(
            ops::pooledBin(image + c * pixels, of.samples.data() + static_cast<std::size_t>(bin) * of.perBin, of.perBin,
                           m_at.form.largest));
    });
  }

  RoiAlign m_at;
  int m_threads;
};

// Images without pixels are left to the reference kernel, which reports what is wrong with them.
Result<bool> emitRoiAlign(Context& context, const Node& node) {
  if (!node.is("RoiAlign") || context.typeOf(node.input(0)) != DataType::F32 ||
      context.typeOf(node.input(2)) != DataType::I64)
    return false;
  const Dims images = context.dimsOf(node.input(0));
  if (images[2] * images[3] == 0) return false;
  RoiAlign at{.images = TRY(context.plain(TRY(context.ref(node.input(0))))),
              .regions = TRY(context.plain(TRY(context.ref(node.input(1))))),
              .batch = TRY(context.plain(TRY(context.ref(node.input(2))))),
              .to = context.allocate(node.outputs[0]),
              .form = ops::RoiAlignForm::of(node)};
  context.define(node.outputs[0], at.to);
  context.chose({.kind = kRoiAlignKernel});
  const std::vector<BufferIndex> reads{at.images.buffer, at.regions.buffer, at.batch.buffer}, writes{at.to.buffer};
  context.program().addStep(std::make_unique<RoiAlignStep>(std::move(at), context.threads()), reads, writes);
  return true;
}

}  // namespace

extern const Emitter kRoiAlignEmitter{.name = "roi_align", .emit = emitRoiAlign};

}  // namespace fusescope::native
