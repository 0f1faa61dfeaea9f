#include <algorithm>

#include "backends/native/lowering/conv_weights.h"
#include "backends/native/lowering/epilogue_chain.h"
#include "backends/native/lowering/exact_epilogue.h"
#include "backends/native/lowering/factors.h"
#include "backends/native/lowering/post_operations.h"
#include "backends/native/node_window.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/upsampling_step.h"

namespace fusescope::native {

using dnnl::memory;

namespace {

/// A convolution, including everything that was folded into it, without what depends on formats.
struct PreparedConv {
  bool transposed = false;
  std::int64_t groups = 1;
  Dims source, target;
  DataType type = DataType::F32;        ///< type of source and filters when they are multiplied
  DataType targetType = DataType::F32;  ///< type of the result in memory
  ConvWeights weights;
  Window window;
  dnnl::post_ops operations;
  std::vector<std::pair<int, ValueId>> residuals;  ///< operands of `operations`, by oneDNN's argument number
  dnnl::post_ops sums;                             ///< `operations` before the first activation
  std::size_t summed = 0;                          ///< the number of nodes up to there; 0 if there is no activation
  std::size_t included = 1;                        ///< the number of nodes of the chain that the convolution calculates
  bool mayLoseNumbers = false;
  bool hasSigmoid = false;

  std::int64_t channels() const { return target[1]; }
};

/// A description of a primitive, with the descriptors that oneDNN chose.
struct DescribedConv {
  std::function<dnnl::primitive()> make;  ///< generates the code; not called while a tactic is only probed
  memory::desc source, weights, target, scratchpad;
  std::string implementation;
  MemoryFormat from, to;
};

/// A request to oneDNN for a convolution.
struct ConvCall {
  bool transposed = false;
  memory::desc source, weights, bias, target;
  Window window;
  dnnl::post_ops operations;
};

template <class Forward>
typename Forward::primitive_desc descriptionOf(const ConvCall& call, dnnl::algorithm algorithm) {
  Dims dilations = call.window.dilations;
  for (std::int64_t& dilation : dilations) --dilation;
  return {dnnlEngine(),       dnnl::prop_kind::forward_inference,
          algorithm,          call.source,
          call.weights,       call.bias,
          call.target,        call.window.strides,
          dilations,          call.window.padBegin,
          call.window.padEnd, userScratchpad(call.operations)};
}

template <class Forward>
DescribedConv described(const ConvCall& call, dnnl::algorithm algorithm) {
  const auto description = descriptionOf<Forward>(call, algorithm);
  return {[description] { return Forward(description); },
          description.src_desc(),
          description.weights_desc(),
          description.dst_desc(),
          description.scratchpad_desc(),
          description.impl_info_str()};
}

DescribedConv describeConv(const ConvCall& call) {
  if (call.transposed) return described<dnnl::deconvolution_forward>(call, dnnl::algorithm::deconvolution_direct);
  return described<dnnl::convolution_forward>(call, dnnl::algorithm::convolution_direct);
}

DescribedConv describeConv(const PreparedConv& conv, const memory::desc& source, const memory::desc& target) {
  return describeConv(
      ConvCall{.transposed = conv.transposed,
               .source = source,
               .weights = memory::desc(conv.weights.dims(), *dnnlType(conv.type), memory::format_tag::any),
               .bias = conv.weights.hasBias() ? conv.weights.biasDesc() : memory::desc(),
               .target = target,
               .window = conv.window,
               .operations = conv.operations});
}

/// If several formats put the elements of `dims` into the same bytes, returns the channels-last one, for which oneDNN
/// has most kernels. With another of these formats, the kernel would depend on which of them oneDNN's cache happens to
/// contain.
MemoryFormat settled(const MemoryFormat& format, const Dims& dims) {
  const MemoryFormat last = MemoryFormat::channelsLast(dims.size());
  const auto isMoot = [&](const MemoryFormat& other) { return hasPlainLayout({.dims = dims, .format = other}); };
  return isMoot(last) && (format.isPlain() || isMoot(format)) ? last : format;
}

DescribedConv describeIn(const PreparedConv& conv, const MemoryFormat& wantedFrom, const MemoryFormat& wantedTo) {
  const MemoryFormat from = settled(wantedFrom, conv.source), to = settled(wantedTo, conv.target);
  DescribedConv described =
      describeConv(conv, *dnnlDesc({conv.type, conv.source, from}), *dnnlDesc({conv.targetType, conv.target, to}));
  described.from = from;
  described.to = to;
  return described;
}

/// Describes the convolution in the formats that oneDNN prefers, or in plain formats if MemoryFormat cannot express one
/// of them. It is described again with these formats, as a tactic names them, because oneDNN may choose another
/// implementation when the formats are given.
DescribedConv describePreferred(const PreparedConv& conv) {
  const auto any = [](const Dims& dims, DataType type) {
    return memory::desc(dims, *dnnlType(type), memory::format_tag::any);
  };
  const DescribedConv preferred = describeConv(conv, any(conv.source, conv.type), any(conv.target, conv.targetType));
  const auto from = formatOf(preferred.source, conv.source);
  const auto to = formatOf(preferred.target, conv.target);
  return from && to ? describeIn(conv, *from, *to) : describeIn(conv, MemoryFormat(), MemoryFormat());
}

/// Returns a function that makes the convolution of `described` up to its first activation, with a result in f32.
std::function<Result<std::unique_ptr<Step>>(BufferIndex)> sumsOfConv(const PreparedConv& conv,
                                                                     const DescribedConv& described,
                                                                     const memory::desc& target,
                                                                     std::vector<DnnlStep::Argument> arguments) {
  ConvCall call{.transposed = conv.transposed,
                .source = described.source,
                .weights = described.weights,
                .bias = conv.weights.hasBias() ? conv.weights.biasDesc() : memory::desc(),
                .target = target,
                .window = conv.window,
                .operations = conv.sums};
  return [call, arguments = std::move(arguments)](BufferIndex into) {
    return guardDnnl<std::unique_ptr<Step>>("a convolution", [&]() -> Result<std::unique_ptr<Step>> {
      const DescribedConv made = describeConv(call);
      return std::unique_ptr<Step>(std::make_unique<DnnlStep>(
          made.make(), argumentsUpTo(call.operations, arguments, call.target, into), made.scratchpad));
    });
  };
}

/// Returns whether NaN may be lost without a trace: oneDNN's Sigmoid returns 0 for NaN in code that is not generated,
/// and no flag of the processor is set.
bool losesNumbersUnnoticed(const PreparedConv& conv, const DescribedConv& described) {
  return conv.hasSigmoid && !isGenerated(dnnlCodeOf(described.implementation));
}

constexpr std::int64_t kFewChannels = 4;

/// Returns whether our own kernel can run it (upsampling_step.h).
bool isUpsampling(const PreparedConv& conv) {
  const Window& window = conv.window;
  const auto none = [](std::int64_t pad) { return pad == 0; };
  const auto one = [](std::int64_t dilation) { return dilation == 1; };
  return conv.transposed && conv.groups == 1 && conv.source.size() == 4 && conv.channels() <= kFewChannels &&
         window.kernel == window.strides && std::ranges::all_of(window.dilations, one) &&
         std::ranges::all_of(window.padBegin, none) && std::ranges::all_of(window.padEnd, none);
}

constexpr KernelKind kUpsamplingKernel{.name = "upsampling"};

enum class Sigmoids { Folded, LeftToTapes };

/// Returns the type in which a residual is read. If the factors are narrow floats and the residual is stored in their
/// type, it is read in that type, otherwise as f32.
DataType residualType(const Context& context, const PreparedConv& conv, ValueId value) {
  return conv.type != DataType::F32 && context.seenType(value) == conv.type ? conv.type : DataType::F32;
}

bool canConvolve(const Context& context, const Node& root) {
  const Dims dims = context.dimsOf(root.input(0));
  const bool biasKnown = !root.input(2).valid() || context.isConstant(root.input(2));
  return context.isConstant(root.input(1)) && biasKnown && dims.size() >= 3 && dims.size() <= 5 &&
         elementCount(dims).value_or(0) > 0 && elementCount(context.dimsOf(root.outputs[0])).value_or(0) > 0;
}

PreparedConv prepareConv(const Context& context, const Node& root) {
  const bool transposed = root.is("ConvTranspose");
  const std::int64_t groups = root.intAttribute("group", 1);
  const Dims target = context.dimsOf(root.outputs[0]);
  PreparedConv conv{.transposed = transposed,
                    .groups = groups,
                    .source = context.dimsOf(root.input(0)),
                    .target = target,
                    .weights = ConvWeights(context.weight(root.input(1)), transposed, groups, target[1])};
  if (root.input(2).valid()) conv.weights.addBias(context.weight(root.input(2)));
  const Dims& held = conv.weights.held();
  conv.window = (conv.transposed ? transposedWindowOf : windowOf)(root, conv.source, conv.target,
                                                                  Dims(held.begin() + 2, held.end()));
  return conv;
}

// Folds a bias or a batch norm into the filters. This is possible as long as no other operation came before it.
bool fold(const Context& context, const Chain::Operation& operation, PreparedConv& conv) {
  const Node& at = context.node(operation.node);
  switch (operation.kind) {
    case Chain::Kind::BatchNorm:
      if (conv.type != DataType::F32) return false;  // the filters would be rounded a second time
      conv.weights.addBatchNorm({context.weight(at.input(1)), context.weight(at.input(2)), context.weight(at.input(3)),
                                 context.weight(at.input(4))},
                                at.floatAttribute("epsilon", 1e-5f));
      return true;
    case Chain::Kind::Cast:
      return true;
    case Chain::Kind::Bias:
      if (conv.operations.len() > 0) return false;
      conv.weights.addBias(context.weight(operation.operand));
      return true;
    case Chain::Kind::Residual:
      conv.residuals.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(conv.operations.len()) | DNNL_ARG_SRC_1,
                                  operation.operand);
      conv.operations.append_binary(dnnl::algorithm::binary_add,
                                    memory::desc(conv.target, *dnnlType(residualType(context, conv, operation.operand)),
                                                 memory::format_tag::any));
      return true;
    default:
      return appendActivation(conv.operations, operation, at, [&](ValueId v) { return context.constantNumber(v); });
  }
}

PreparedConv foldedConv(const Context& context, const Chain& chain, Sigmoids sigmoids) {
  const Node& root = context.node(chain.root);
  PreparedConv conv = prepareConv(context, root);
  conv.type = multiplies(context, root);
  for (const Chain::Operation& operation : chain.operations) {
    const bool isSigmoid = operation.kind == Chain::Kind::Activation && context.node(operation.node).is("Sigmoid");
    if (isSigmoid && sigmoids == Sigmoids::LeftToTapes) break;
    if (operation.isActivation() && conv.summed == 0) {
      conv.sums = copyOf(conv.operations);
      conv.summed = conv.included;
    }
    if (!fold(context, operation, conv)) break;
    conv.hasSigmoid = conv.hasSigmoid || isSigmoid;
    conv.mayLoseNumbers =
        conv.mayLoseNumbers || (operation.isActivation() && mayLoseNumbers(context.node(operation.node)));
    conv.included += operation.nodeCount();
  }
  if (conv.type != DataType::F32) conv.targetType = context.storedType(resultOf(context, chain, conv.included));
  if (conv.targetType != conv.type) conv.targetType = DataType::F32;
  return conv;
}

// Uses the formats that the options give for the inside of the fused node, or else those that oneDNN prefers. The first
// convolution of a network, which has few channels, typically reads plain and writes blocks.
DescribedConv describeConv(const Context& context, const PreparedConv& conv) {
  const auto& given = context.options().convFormats;
  const bool isGiven = given && given->first.fits(conv.source) && given->second.fits(conv.target);
  return isGiven ? describeIn(conv, given->first, given->second) : describePreferred(conv);
}

Status emitConvPrimitive(Context& context, const Chain& chain, const PreparedConv& conv,
                         const DescribedConv& described) {
  const Node& root = context.node(chain.root);
  const ValueId result = resultOf(context, chain, conv.included);
  const bool isNarrowed = conv.type != DataType::F32;
  const Ref found = TRY(factor(context, root.input(0), conv.type));
  const Ref source = TRY(context.inFormat(found, described.from));
  const Ref target = context.allocate(result, described.to, conv.targetType);
  std::vector<BufferIndex> reads = {source.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, described.source, source),
                                               argumentAt(DNNL_ARG_DST, described.target, target)};
  std::map<ValueId, Ref> addends;
  for (const auto& [id, value] : conv.residuals) {
    const bool isWide = residualType(context, conv, value) == DataType::F32;
    const Ref residual =
        TRY(context.inFormat(isWide ? TRY(context.ref(value)) : TRY(context.seen(value)), described.to));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, *dnnlDesc(residual.desc()), residual));
    addends.emplace(value, residual);
  }
  context.chose({.kind = kConvKernel,
                 .by = Choice::By::OneDnn,
                 .implementation = described.implementation,
                 .multiplies = isNarrowed ? Choice::Factors::NarrowFloats : Choice::Factors::Floats,
                 .formats = ConvFormats{root.input(0), conv.target, described.from, described.to}});
  arguments.push_back(
      {DNNL_ARG_WEIGHTS, described.weights, context.program().addPacked(conv.weights.packFilters(described.weights))});
  if (conv.weights.hasBias())
    arguments.push_back({DNNL_ARG_BIAS, conv.weights.biasDesc(), context.program().addPacked(conv.weights.packBias())});
  dnnl::primitive primitive = context.options().probe ? dnnl::primitive() : described.make();
  std::unique_ptr<Step> step = std::make_unique<DnnlStep>(std::move(primitive), arguments, described.scratchpad);
  if (conv.mayLoseNumbers) {
    const memory::desc wide = *dnnlDesc({DataType::F32, conv.target, described.to});
    step = makeRecheckedStep(std::move(step),
                             exactEpilogue({.product = sumsOfConv(conv, described, wide, std::move(arguments)),
                                            .tape = epilogueTape(context, chain, conv.summed, conv.included),
                                            .addends = std::move(addends),
                                            .target = target,
                                            .count = productOf(described.to.padded(conv.target), 0),
                                            .threads = context.threads()}));
  }
  context.program().addStep(std::move(step), reads, {target.buffer});
  context.define(result, target);
  return Done{};
}

Status emitUpsampling(Context& context, const Chain& chain, PreparedConv conv) {
  std::size_t included = 1;
  for (const Chain::Operation& operation : chain.operations) {
    const bool linear = operation.kind == Chain::Kind::Bias || operation.kind == Chain::Kind::BatchNorm ||
                        operation.kind == Chain::Kind::Cast;
    if (!linear || !fold(context, operation, conv)) break;
    included += operation.nodeCount();
  }
  const ValueId result = resultOf(context, chain, included);
  const Ref from = TRY(context.plain(TRY(context.ref(context.node(chain.root).input(0)))));
  const Ref to = context.allocate(result);
  context.chose({.kind = kUpsamplingKernel});
  context.program().addStep(
      makeUpsamplingStep({.from = from,
                          .to = to,
                          .down = conv.window.strides[0],
                          .across = conv.window.strides[1],
                          .filters = context.packedRef(conv.weights.held(), conv.weights.packFiltersPlain()),
                          .bias = context.packedRef({conv.channels()}, conv.weights.packBias())},
                         context.threads()),
      {from.buffer}, {to.buffer});
  context.define(result, to);
  leaveToTapes(context, chain, included);
  return Done{};
}

Status emitConvChain(Context& context, const Chain& chain) {
  const Node& root = context.node(chain.root);
  if (!canConvolve(context, root)) return emitSeparately(context, chain);
  if (PreparedConv conv = prepareConv(context, root); isUpsampling(conv))
    return emitUpsampling(context, chain, std::move(conv));
  return guardDnnl<Done>("convolution '" + root.name + "'", [&]() -> Status {
    PreparedConv conv = foldedConv(context, chain, Sigmoids::Folded);
    DescribedConv described = describeConv(context, conv);
    if (losesNumbersUnnoticed(conv, described)) {
      conv = foldedConv(context, chain, Sigmoids::LeftToTapes);
      described = describeConv(context, conv);
    }
    TRY(emitConvPrimitive(context, chain, conv, described));
    leaveToTapes(context, chain, conv.included);
    return Done{};
  });
}

Result<bool> emitConv(Context& context, const Node& node) {
  if (!isConvolution(node)) return false;
  TRY(emitConvChain(context, chainOf(node)));
  return true;
}

void claimConvs(Context& context, Units& units) {
  claimChains(context, units, RootBinding::Kind::Convolution, emitConvChain);
}

}  // namespace

extern const Emitter kConvEmitter{.name = "conv", .claim = claimConvs, .emit = emitConv};

}  // namespace fusescope::native
