#include <algorithm>

#include "backends/native/lowering/quantized_kernels.h"
#include "backends/native/lowering/quantized_parts.h"
#include "backends/native/node_window.h"

namespace fusescope::native {

using dnnl::memory;

namespace {

/// A convolution of codes: what is asked of oneDNN, and what oneDNN chose.
struct CodeConv {
  bool transposed = false;
  Dims held;  ///< extents of the weights as oneDNN sees them
  Window window;
  memory::desc from, bias, to;
  dnnl::primitive_attr attributes;

  struct Described {
    std::function<dnnl::primitive()> make;
    memory::desc weights, scratchpad;
    std::string implementation;
    DnnlCode code() const { return dnnlCodeOf(implementation); }
  };
  template <class Forward>
  Described described(dnnl::algorithm algorithm) const {
    Dims dilations = window.dilations;
    for (std::int64_t& dilation : dilations) --dilation;
    const typename Forward::primitive_desc description(
        dnnlEngine(), dnnl::prop_kind::forward_inference, algorithm, from,
        memory::desc(held, memory::data_type::s8, memory::format_tag::any), bias, to, window.strides, dilations,
        window.padBegin, window.padEnd, attributes);
    return {[description] { return Forward(description); }, description.weights_desc(), description.scratchpad_desc(),
            description.impl_info_str()};
  }
  Described described() const {
    return transposed ? described<dnnl::deconvolution_forward>(dnnl::algorithm::deconvolution_direct)
                      : described<dnnl::convolution_forward>(dnnl::algorithm::convolution_direct);
  }
  /// Returns the layout of the weights in an ONNX file, with the axes in oneDNN's order.
  memory::desc heldDesc() const {
    if (!transposed) return memory::desc(held, memory::data_type::s8, rowMajorStrides(held));
    Dims turned = held;
    std::swap(turned[0], turned[1]);
    Dims strides = rowMajorStrides(turned);
    std::swap(strides[0], strides[1]);
    return memory::desc(held, memory::data_type::s8, strides);
  }
};

/// Returns the extents of the weights with the groups first, and outputs before inputs.
Dims heldDims(const Node& root, Dims dims) {
  if (root.is("ConvTranspose")) std::swap(dims[0], dims[1]);
  const std::int64_t groups = root.intAttribute("group", 1);
  if (groups == 1) return dims;
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return dims;
}

/// Returns whether an epilogue would be wrong: oneDNN 3.2's kernels of vectors of 32 bytes read its operands wrongly if
/// the channels do not fill whole vectors.
bool misreadsOperands(DnnlCode code, const QuantizedParts& parts, std::int64_t channels) {
  const bool reads = !parts.residuals.empty() || !parts.addends.empty();
  return code == DnnlCode::Int8Vectors && reads && channels % 8 != 0;
}

}  // namespace

// The channels are last, because integer convolutions are written for this format.
Result<bool> emitQuantizedConv(Context& context, const QuantizedChain& chain) {
  const Node& root = context.node(chain.root);
  const Dims source = context.dimsOf(root.input(0)), target = context.dimsOf(root.outputs[0]);
  const Weight codes = context.weight(context.node(chain.weights).input(0));
  const Dims kernel(codes.dims.begin() + 2, codes.dims.end());
  const bool transposed = root.is("ConvTranspose");
  const MemoryFormat format = MemoryFormat::channelsLast(source.size());
  QuantizedParts parts = foldQuantized(context, chain, target, format);
  const CodeConv conv{
      .transposed = transposed,
      .held = heldDims(root, codes.dims),
      .window = transposed ? transposedWindowOf(root, source, target, kernel) : windowOf(root, source, target, kernel),
      .from = *dnnlDesc({chain.sourceScale.type, source, format}),
      .bias = parts.biases.empty() ? memory::desc() : perChannel(target[1]),
      .to = *dnnlDesc({parts.type(), target, format}),
      .attributes = parts.attributes(chain.sourceScale, root.intAttribute("group", 1) > 1 ? 3 : 1)};
  if (std::ranges::any_of(conv.window.padBegin, [](std::int64_t pad) { return pad < 0; })) return false;
  const auto described = ifImplemented([&] { return conv.described(); });
  if (!described || described->code() == DnnlCode::Reference || misreadsOperands(described->code(), parts, target[1]))
    return false;
  const CodeConv::Described& description = *described;
  const Ref given = TRY(context.inFormat(TRY(context.ref(chain.source)), format));
  const Ref result = context.allocate(parts.value, format);
  std::vector<BufferIndex> reads = {given.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, conv.from, given),
                                               argumentAt(DNNL_ARG_DST, conv.to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(context.inFormat(TRY(context.ref(value)), format));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, *dnnlDesc({residual.dtype, target, format}), residual));
  }
  arguments.push_back(
      {DNNL_ARG_WEIGHTS, description.weights,
       context.program().addPacked(packCodes(codes, conv.heldDesc(), description.weights, chain.sourceScale))});
  if (!parts.biases.empty())
    arguments.push_back({DNNL_ARG_BIAS, conv.bias,
                         context.program().addPacked(quantizedBias(context, chain, parts.biases, parts.unit))});
  addQuantizedArguments(context, chain, parts, arguments);
  context.chose({.kind = kConvKernel,
                 .by = Choice::By::OneDnn,
                 .implementation = description.implementation,
                 .multiplies = Choice::Factors::Codes,
                 .formats = ConvFormats{chain.source, target, format, format}});
  dnnl::primitive primitive = context.options().probe ? dnnl::primitive() : description.make();
  context.program().addStep(
      std::make_unique<DnnlStep>(std::move(primitive), std::move(arguments), description.scratchpad), reads,
      {result.buffer});
  context.define(parts.value, result);
  if (parts.value != context.node(chain.last).outputs[0]) leaveQuantized(context, chain, parts.included);
  return true;
}

}  // namespace fusescope::native
