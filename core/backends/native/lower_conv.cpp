#include <algorithm>
#include <cmath>
#include <tuple>

#include "backends/native/lowering.h"
#include "backends/native/onednn.h"
#include "backends/native/post_operations.h"
#include "backends/native/window.h"

namespace fusescope::native {
namespace {

using dnnl::memory;

/// Weights and bias with what can be folded into them.
struct Filters {
  std::vector<float> weights;
  std::vector<float> bias;
};

struct FoldedChannels {
  std::int64_t channels = 0;
  bool transposed = false;
  Dims weightDims;
  std::int64_t groups = 1;
};

/// Multiplies what belongs to output channel `c` by `factor`. Conv: [out, in/g, k…]; ConvTranspose: [in, out/g, k…].
void scaleChannel(Filters& filters, const FoldedChannels& how, std::int64_t c, float factor) {
  std::int64_t taps = 1;
  for (std::size_t i = 2; i < how.weightDims.size(); ++i) taps *= how.weightDims[i];
  if (!how.transposed) {
    const std::int64_t count = how.weightDims[1] * taps;
    for (std::int64_t i = 0; i < count; ++i) filters.weights[static_cast<std::size_t>(c * count + i)] *= factor;
    return;
  }
  const std::int64_t perGroup = how.weightDims[1];
  const std::int64_t inputs = how.weightDims[0] / how.groups;
  const std::int64_t group = c / perGroup;
  for (std::int64_t i = group * inputs; i < (group + 1) * inputs; ++i) {
    float* at = filters.weights.data() + (i * perGroup + c % perGroup) * taps;
    for (std::int64_t t = 0; t < taps; ++t) at[t] *= factor;
  }
}

/// Everything of a convolution that does not depend on layouts.
struct Convolution {
  bool transposed = false;
  Dims source, target, weightDims;  ///< weightDims as oneDNN wants them, with a group axis if there are groups
  memory::desc plainWeights;        ///< of the constant as ONNX holds it
  Window window;
  dnnl::post_ops operations;
  bool hasBias = false;
};

/// A prepared description with the descriptors it chose.
struct Described {
  dnnl::primitive primitive;
  memory::desc source, weights, target, scratchpad;
  std::string implementation;
};

template <class Forward>
Described describe(const Convolution& conv, dnnl::algorithm algorithm, const memory::desc& source,
                   const memory::desc& target) {
  const memory::desc weights(conv.weightDims, memory::data_type::f32, memory::format_tag::any);
  const memory::desc bias =
      conv.hasBias ? memory::desc({conv.target[1]}, memory::data_type::f32, memory::format_tag::a) : memory::desc();
  Dims dilations = conv.window.dilations;
  for (std::int64_t& dilation : dilations) --dilation;
  const typename Forward::primitive_desc description(
      dnnlEngine(), dnnl::prop_kind::forward_inference, algorithm, source, weights, bias, target, conv.window.strides,
      dilations, conv.window.padBegin, conv.window.padEnd, userScratchpad(conv.operations));
  return {Forward(description),   description.src_desc(),        description.weights_desc(),
          description.dst_desc(), description.scratchpad_desc(), description.impl_info_str()};
}

Described describe(const Convolution& conv, const memory::desc& source, const memory::desc& target) {
  if (conv.transposed) {
    return describe<dnnl::deconvolution_forward>(conv, dnnl::algorithm::deconvolution_direct, source, target);
  }
  return describe<dnnl::convolution_forward>(conv, dnnl::algorithm::convolution_direct, source, target);
}

memory::desc wanted(const Dims& dims, std::optional<Layout> layout) {
  if (!layout) return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  return *dnnlDesc({DataType::F32, dims, *layout});
}

}  // namespace

// Layouts: what the options say for the inside of the fused node, else what oneDNN prefers; where it prefers something
// that is no Layout, plain. First convolutions of few channels read plain and write blocks.
Status Lowering::lowerConv(const Chain& chain) {
  const Node& root = node(chain.root);
  const Tensor* weights = constant(root.input(1));
  const Dims dims = dimsOf(root.input(0));
  const Dims outputDims = dimsOf(root.outputs[0]);
  const bool biasKnown = !root.input(2).valid() || constant(root.input(2)) != nullptr;
  const bool usable = weights != nullptr && weights->hasData() && biasKnown && dims.size() >= 3 && dims.size() <= 5 &&
                      elementCount(dims).value_or(0) > 0 && elementCount(outputDims).value_or(0) > 0;
  if (!usable) {
    for (NodeId id : chain.nodes)
      TRY(isPointwise(node(id))               ? emitTape({id})
          : node(id).is("BatchNormalization") ? lowerBatchNorm(node(id))
                                              : lowerReference(node(id)));
    return Done{};
  }
  Convolution conv;
  conv.transposed = root.is("ConvTranspose");
  conv.source = dims;
  conv.target = outputDims;
  const Tensor wide =
      m_options.probe ? Tensor::withoutData(DataType::F32, weights->dims()) : weights->converted(DataType::F32);
  const std::int64_t groups = root.intAttribute("group", 1);
  const FoldedChannels how{outputDims[1], conv.transposed, wide.dims(), groups};
  Filters filters{{}, std::vector<float>(static_cast<std::size_t>(how.channels), 0.0f)};
  if (!m_options.probe) filters.weights.assign(wide.data<float>().begin(), wide.data<float>().end());
  const auto addBias = [&](const Tensor& bias) {
    for (std::int64_t c = 0; c < how.channels; ++c)
      filters.bias[static_cast<std::size_t>(c)] += static_cast<float>(bias.asDouble(c));
    conv.hasBias = true;
  };
  if (root.input(2).valid()) addBias(*constant(root.input(2)));
  conv.window = windowOf(root, dims, outputDims, Dims(wide.dims().begin() + 2, wide.dims().end()));
  if (conv.transposed) {
    const Dims pads = root.intsAttribute("pads", Dims(2 * (dims.size() - 2), 0));
    for (std::size_t i = 0; i < conv.window.kernel.size(); ++i) {
      const std::int64_t extent = conv.window.dilations[i] * (conv.window.kernel[i] - 1) + 1;
      const std::int64_t total = (dims[i + 2] - 1) * conv.window.strides[i] + extent - outputDims[i + 2];
      const std::string automatic = root.textAttribute("auto_pad", "NOTSET");
      std::int64_t begin = automatic == "NOTSET"       ? pads[i]
                           : automatic == "SAME_UPPER" ? total / 2
                           : automatic == "SAME_LOWER" ? total - total / 2
                                                       : 0;
      conv.window.padBegin[i] = begin;
      conv.window.padEnd[i] = total - begin;
    }
  }
  // What follows: bias and batch norm go into the filters while nothing else came before them.
  bool plainSoFar = true;
  std::vector<Ref> residuals;
  const auto number = [this](ValueId value) -> std::optional<float> {
    const Tensor* tensor = constant(value);
    return tensor == nullptr ? std::nullopt : std::optional(static_cast<float>(tensor->asDouble(0)));
  };
  std::size_t taken = 1;  // nodes of the chain that became part of the primitive
  std::vector<std::pair<int, ValueId>> binaries;
  for (const Chain::Operation& operation : chain.operations) {
    const Node& at = node(operation.node);
    if (operation.kind == Chain::Kind::BatchNorm) {
      const double epsilon = at.floatAttribute("epsilon", 1e-5f);
      for (std::int64_t c = 0; c < how.channels; ++c) {
        const double factor =
            constant(at.input(1))->asDouble(c) / std::sqrt(constant(at.input(4))->asDouble(c) + epsilon);
        if (!m_options.probe) scaleChannel(filters, how, c, static_cast<float>(factor));
        float& bias = filters.bias[static_cast<std::size_t>(c)];
        bias = static_cast<float>((bias - constant(at.input(3))->asDouble(c)) * factor +
                                  constant(at.input(2))->asDouble(c));
      }
      conv.hasBias = true;
    } else if (operation.kind == Chain::Kind::Bias && plainSoFar) {
      addBias(*constant(operation.operand));
    } else if (operation.kind == Chain::Kind::Residual) {
      binaries.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(conv.operations.len()) | DNNL_ARG_SRC_1, operation.operand);
      conv.operations.append_binary(dnnl::algorithm::binary_add,
                                    memory::desc(outputDims, memory::data_type::f32, memory::format_tag::any));
      plainSoFar = false;
    } else if (operation.kind == Chain::Kind::Swish) {
      conv.operations.append_eltwise(dnnl::algorithm::eltwise_swish, 1.0f, 0.0f);
      plainSoFar = false;
      ++taken;
    } else if (operation.kind == Chain::Kind::Activation && appendActivation(conv.operations, at, number)) {
      plainSoFar = false;
    } else {
      break;
    }
    ++taken;
  }
  const ValueId result = taken == chain.nodes.size() ? chain.result : node(chain.nodes[taken - 1]).outputs[0];
  if (groups > 1) {
    conv.weightDims = {groups, outputDims[1] / groups, dims[1] / groups};
  } else {
    conv.weightDims = {outputDims[1], dims[1]};
  }
  conv.weightDims.insert(conv.weightDims.end(), wide.dims().begin() + 2, wide.dims().end());
  Dims strides = rowMajorStrides(conv.weightDims);
  if (conv.transposed) {  // ONNX holds [in, out/g, k…]: the axes of oneDNN's [g, out/g, in/g, k…] in another order
    const std::size_t out = groups > 1 ? 1 : 0;
    Dims held = conv.weightDims;
    std::swap(held[out], held[out + 1]);
    strides = rowMajorStrides(held);
    std::swap(strides[out], strides[out + 1]);
  }
  conv.plainWeights = memory::desc(conv.weightDims, memory::data_type::f32, strides);

  return guardDnnl<Done>("convolution '" + root.name + "'", [&]() -> Status {
    Ref source = TRY(ref(root.input(0)));
    std::optional<Layout> from, to;
    if (m_options.convLayouts) std::tie(from, to) = *m_options.convLayouts;
    Described described = describe(conv, wanted(dims, from), wanted(outputDims, to));
    if (!from) {
      from = layoutOf(described.source, dims);
      to = layoutOf(described.target, outputDims);
      if (!from || !to) {
        from = to = Layout::Plain;
        described = describe(conv, wanted(dims, from), wanted(outputDims, to));
      }
    }
    if (!m_convLayouts) m_convLayouts = ConvLayouts{root.input(0), outputDims, *from, *to};
    source = TRY(inLayout(source, *from));
    const Ref target = allocate(result, *to);
    std::vector<BufferIndex> reads = {source.buffer};
    std::vector<DnnlStep::Argument> arguments = {
        {DNNL_ARG_SRC, described.source, source.buffer, byteSize(source.dtype, source.offset)},
        {DNNL_ARG_DST, described.target, target.buffer}};
    for (const auto& [id, value] : binaries) {
      const Ref residual = TRY(inLayout(TRY(ref(value)), *to));
      reads.push_back(residual.buffer);
      arguments.push_back({id, described.target, residual.buffer, byteSize(residual.dtype, residual.offset)});
    }
    std::vector<std::pair<int, memory>> owned;
    if (!m_options.probe)
      owned.emplace_back(DNNL_ARG_WEIGHTS, reordered(reinterpret_cast<const std::byte*>(filters.weights.data()),
                                                     conv.plainWeights, described.weights));
    if (conv.hasBias) {
      const memory::desc desc({conv.target[1]}, memory::data_type::f32, memory::format_tag::a);
      owned.emplace_back(DNNL_ARG_BIAS, reordered(reinterpret_cast<const std::byte*>(filters.bias.data()), desc, desc));
    }
    m_implementations.push_back("conv:" + (from == to ? "" : std::string(name(*from)) + ">") + std::string(name(*to)) +
                                ":" + described.implementation);
    m_program.addStep(
        std::make_unique<DnnlStep>(described.primitive, std::move(arguments), described.scratchpad, std::move(owned)),
        reads, {target.buffer});
    define(result, target);
    for (std::size_t i = taken; i < chain.nodes.size(); ++i) m_pending.push_back(chain.nodes[i]);
    return Done{};
  });
}

}  // namespace fusescope::native
