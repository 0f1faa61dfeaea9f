#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/node_window.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/byte_pool_step.h"
#include "backends/native/steps/pool_step.h"
#include "backends/native/steps/rechecked_step.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kPoolKernel{.name = "pool"};

/// Returns whether oneDNN computes the window as ONNX defines it: every window begins inside the padded input, and an
/// average counts padding only as the attribute says.
bool fitsDnnl(const Node& node, const Window& window, bool average) {
  const Dims pads = node.intsAttribute("pads", Dims(2 * window.kernel.size(), 0));
  const bool automatic = node.textAttribute("auto_pad", "NOTSET") != "NOTSET";
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    if (window.padBegin[i] < 0 || window.padBegin[i] >= window.kernel[i]) return false;
    if (window.padEnd[i] >= window.kernel[i] * window.dilations[i]) return false;
    const bool larger = !automatic && window.padEnd[i] > pads[window.kernel.size() + i];
    if (average && larger && node.intAttribute("count_include_pad", 0) != 0) return false;
  }
  return true;
}

/// Returns whether each window contains at least one place that is not padding.
bool meetInput(const Window& window, const Dims& input, const Dims& output) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    for (std::int64_t result = 0; result < output[i + 2]; ++result) {
      const std::int64_t first = result * window.strides[i] - window.padBegin[i], step = window.dilations[i];
      const std::int64_t before = first < 0 ? (-first + step - 1) / step : 0;
      if (before >= window.kernel[i] || first + before * step >= input[i + 2]) return false;
    }
  }
  return true;
}

/// Returns the call of our own kernel in the format that source and target have in common. The elements that only fill
/// up blocks are pooled like channels.
PoolCall poolCall(const Node& node, const Window& window, const Ref& source, const Ref& target) {
  const Dims dims = source.format.padded(source.dims);
  const std::int64_t inner = source.format.isPlain()          ? 1
                             : source.format.isChannelsLast() ? dims[1]
                                                              : source.format.blockOf(1);
  return {.from = source,
          .to = target,
          .outer = dims[0] * dims[1] / inner,
          .inner = inner,
          .in = {dims.begin() + 2, dims.end()},
          .out = {target.dims.begin() + 2, target.dims.end()},
          .window = window,
          .average = node.is("AveragePool"),
          .countsPadding = node.intAttribute("count_include_pad", 0) != 0};
}

dnnl::pooling_forward::primitive_desc describePool(const PoolCall& call) {
  const auto algorithm = !call.average        ? dnnl::algorithm::pooling_max
                         : call.countsPadding ? dnnl::algorithm::pooling_avg_include_padding
                                              : dnnl::algorithm::pooling_avg_exclude_padding;
  const Window& window = call.window;
  Dims dilations = window.dilations;
  for (std::int64_t& dilation : dilations) --dilation;
  return {dnnlEngine(),
          dnnl::prop_kind::forward_inference,
          algorithm,
          *dnnlDesc(call.from.desc()),
          *dnnlDesc(call.to.desc()),
          window.strides,
          window.kernel,
          dilations,
          window.padBegin,
          window.padEnd,
          userScratchpad()};
}

struct MadePool {
  std::unique_ptr<Step> step;
  Choice choice;
};

/// Pools with oneDNN, whose max(1, NaN) is 1. If oneDNN's code would not set the flag for NaN, our own kernel is used
/// instead.
MadePool poolStep(const PoolCall& call, int threads) {
  const auto description = describePool(call);
  const std::string implementation = description.impl_info_str();
  const bool mayLoseNumbers = !call.average && call.from.dtype == DataType::F32;
  if (mayLoseNumbers && !isGenerated(dnnlCodeOf(implementation)))
    return {makePoolStep(call, threads), {.kind = kPoolKernel}};
  const std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, description.src_desc(), call.from),
                                                     argumentAt(DNNL_ARG_DST, description.dst_desc(), call.to)};
  std::unique_ptr<Step> step =
      std::make_unique<DnnlStep>(dnnl::pooling_forward(description), arguments, description.scratchpad_desc());
  if (mayLoseNumbers) {
    step = makeRecheckedStep(std::move(step), [call, threads](BufferIndex) -> Result<std::unique_ptr<Step>> {
      return makePoolStep(call, threads);
    });
  }
  return {std::move(step), {.kind = kPoolKernel, .by = Choice::By::OneDnn, .implementation = implementation}};
}

// Lowers a pool of narrow floats or codes in a format that keeps neighbouring channels together.
Result<bool> emitNarrowPool(Context& context, const Node& node, const Window& window) {
  Ref source = TRY(context.seen(node.input(0)));
  const Dims dims = source.dims;
  const bool keepsFormat =
      source.format.isChannelsLast() || (!source.format.isPlain() && source.format.padded(dims) == dims);
  if (!keepsFormat) source = TRY(context.plain(source));
  const Ref target = context.allocate(node.outputs[0], source.format, context.storedType(node.outputs[0]));
  context.define(node.outputs[0], target);
  context.chose({.kind = kPoolKernel});
  context.program().addStep(makePoolStep(poolCall(node, window, source, target), context.threads()), {source.buffer},
                            {target.buffer});
  return true;
}

Result<bool> emitPool(Context& context, const Node& node) {
  const bool average = node.is("AveragePool");
  if (!average && !node.is("MaxPool")) return false;
  const Dims inputDims = context.dimsOf(node.input(0));
  const Dims outputDims = context.dimsOf(node.outputs[0]);
  const bool indices = node.outputs.size() > 1 && node.outputs[1].valid();
  const DataType type = context.typeOf(node.input(0));
  const bool ofCodes = !average && isByteInteger(type);
  if ((type != DataType::F32 && !ofCodes) || inputDims.size() < 3 || inputDims.size() > 5 || indices ||
      *elementCount(outputDims) == 0) {
    return false;
  }
  const Window window = windowOf(node, inputDims, outputDims, {});
  if (!fitsDnnl(node, window, average)) return false;
  if (!ofCodes && (isNarrow(context.seenType(node.input(0))) || isNarrow(context.storedType(node.outputs[0]))))
    return emitNarrowPool(context, node, window);
  Ref source = TRY(context.ref(node.input(0)));
  const MemoryFormat channelsLast = MemoryFormat::channelsLast(inputDims.size());
  // For codes there are fast kernels only if channels are last.
  if (source.format.isPlain()) source = TRY(ofCodes ? context.inFormat(source, channelsLast) : context.plain(source));
  const Ref target = context.allocate(node.outputs[0], source.format);
  if (ofCodes && inputDims.size() == 4 && source.format == channelsLast && meetInput(window, inputDims, outputDims)) {
    context.chose({.kind = kPoolKernel});
    context.program().addStep(makeBytePoolStep({.from = source, .to = target, .window = window}, context.threads()),
                              {source.buffer}, {target.buffer});
    context.define(node.outputs[0], target);
    return true;
  }
  const PoolCall call = poolCall(node, window, source, target);
  auto [step, choice] =
      TRY(guardDnnl<MadePool>("pooling '" + node.name + "'", [&] { return poolStep(call, context.threads()); }));
  context.chose(std::move(choice));
  context.define(node.outputs[0], target);
  context.program().addStep(std::move(step), {source.buffer}, {target.buffer});
  return true;
}

}  // namespace

extern const Emitter kPoolEmitter{.name = "pool", .emit = emitPool};

}  // namespace fusescope::native
