#include "backends/native/native_tactics.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/lowering/attention_pattern.h"
#include "backends/native/lowering/lower_region.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/format_step.h"
#include "base/name_hints.h"
#include "planning/kernel_bindings.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

constexpr const char* kBackend = "native";
constexpr std::int64_t kLargeProduct = 10'000'000;  // operations
// The names of the parameters of tactics.
constexpr const char* kSource = "source";        // the MemoryFormat that the convolution reads
constexpr const char* kTarget = "target";        // the MemoryFormat that it writes
constexpr const char* kKernel = "kernel";        // text: oneDNN's name of its implementation
constexpr const char* kNarrow = "multiplies";    // text: the narrow float type in which factors are multiplied
constexpr const char* kReference = "reference";  // text: an operator that runs on the reference kernel

/// Sets the number of threads while a primitive is made: oneDNN divides its work by the number of threads in a parallel
/// region of the thread that prepares it.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : m_before(omp_get_max_threads()) { omp_set_num_threads(std::max(1, threads)); }
  ~ThreadScope() { omp_set_num_threads(m_before); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int m_before;
};

bool holds(const KernelRequest& request, std::initializer_list<std::string_view> operators) {
  const Graph& graph = request.plan->graph();
  return std::any_of(request.fused->nodes.begin(), request.fused->nodes.end(), [&](NodeId id) {
    return std::any_of(operators.begin(), operators.end(), [&](std::string_view op) { return graph.node(id).is(op); });
  });
}

bool calculates(const KernelRequest& request, DataType type) {
  return std::ranges::any_of(request.fused->nodes,
                             [&](NodeId id) { return request.plan->calculates[id.index] == type; });
}

/// Returns the number of convolutions and products of quantised codes in the fused node.
std::size_t integerRoots(const KernelRequest& request) {
  return static_cast<std::size_t>(std::ranges::count_if(
      request.fused->nodes, [&](NodeId id) { return request.plan->calculates[id.index] == DataType::I8; }));
}

/// Returns whether tensors of this type can be converted to `format` here.
bool canLieIn(DataType type, const MemoryFormat& format) {
  return type == DataType::F32 || type == DataType::I8 || type == DataType::U8 ||
         canMoveInto(type, MemoryFormat(), format);
}

LoweringOptions plainOptions(const KernelRequest& request) {
  return {.inputFormats = std::vector<MemoryFormat>(request.fused->inputs.size()),
          .outputFormats = std::vector<MemoryFormat>(request.fused->outputs.size())};
}

/// Returns whether oneDNN converts floats to narrower ones in order to multiply them. The environment may turn this on.
bool fastMathIsOn() {
  static const bool narrow = dnnl::primitive_attr().get_fpmath_mode() != dnnl::fpmath_mode::strict;
  return narrow;
}

/// Returns the kernel that probably takes most of the time (the first one of the greatest weight), or null if there is
/// none.
const Choice* heaviest(const std::vector<Choice>& choices) {
  const Choice* heavy = nullptr;
  for (const Choice& choice : choices) {
    const int most = heavy == nullptr ? 0 : heavy->kind.weight;
    if (!choice.isReference() && choice.kind.weight > most) heavy = &choice;
  }
  return heavy;
}

/// Returns the name of an implementation that is a kernel of ours. Tactics store it.
std::string nameOfOurs(std::string_view kernel) {
  return "native:" + std::string(kernel);
}

/// How a tactic of this backend runs a fused node.
enum class Way { Unfused, OwnAttention, OwnMatMul, OwnBytes, Other };

/// Returns the way that the stored name of the implementation means. No other function reads it.
Way wayOf(const Tactic& tactic) {
  const auto isBy = [&](const KernelKind& kind) { return tactic.implementation == nameOfOurs(kind.name); };
  if (tactic.implementation == kUnfused) return Way::Unfused;
  if (isBy(kAttentionKernel)) return Way::OwnAttention;
  if (isBy(kMatMulKernel)) return Way::OwnMatMul;
  return isBy(kByteConvKernel) || isBy(kByteProductKernel) ? Way::OwnBytes : Way::Other;
}

/// Names the tactic after the heaviest kernel that the lowering chose.
void setImplementation(const KernelRequest& request, const LoweringOptions& options, const std::vector<Choice>& choices,
                       Tactic& tactic) {
  const Choice* heavy = options.fuse ? heaviest(choices) : nullptr;
  if (heavy == nullptr) {
    tactic.implementation = options.fuse ? nameOfOurs(request.fused->kind) : kUnfused;
    return;
  }
  const bool isOurs = heavy->by == Choice::By::Ours;
  tactic.implementation = isOurs ? nameOfOurs(heavy->kind.name) : "onednn:" + std::string(heavy->kind.name);
  if (!isOurs) tactic.parameters[kKernel] = heavy->implementation;
}

/// Returns the formats of the first convolution, or null if there is none.
const ConvFormats* convFormats(const std::vector<Choice>& choices) {
  const auto first = std::ranges::find_if(choices, [](const Choice& choice) { return choice.formats.has_value(); });
  return first == choices.end() ? nullptr : &*first->formats;
}

bool multipliesNarrow(const std::vector<Choice>& choices) {
  return std::ranges::find(choices, Choice::Factors::NarrowFloats, &Choice::multiplies) != choices.end();
}

/// Returns "nChw16c", or "plain>nChw16c" if a convolution reads and writes different formats.
std::string formatsText(const Tactic& tactic) {
  const std::string from = std::get<MemoryFormat>(tactic.parameters.at(kSource)).text();
  const std::string to = std::get<MemoryFormat>(tactic.parameters.at(kTarget)).text();
  return from == to ? to : from + ">" + to;
}

std::string nameOf(const Tactic& tactic) {
  std::string text = tactic.implementation;
  if (tactic.parameters.contains(kSource) && wayOf(tactic) != Way::Unfused) text += ":" + formatsText(tactic);
  if (const auto kernel = tactic.parameters.find(kKernel); kernel != tactic.parameters.end())
    text += ":" + std::get<std::string>(kernel->second);
  if (const auto narrow = tactic.parameters.find(kNarrow); narrow != tactic.parameters.end())
    text += ":" + std::get<std::string>(narrow->second);
  if (const auto part = tactic.parameters.find(kReference); part != tactic.parameters.end())
    text += ":" + std::get<std::string>(part->second);
  const auto other = std::ranges::find_if_not(tactic.inputs, &MemoryFormat::isPlain);
  if (!tactic.parameters.contains(kSource) && other != tactic.inputs.end()) text += ":" + other->text();
  return text;
}

/// Returns the result of a lowering by `options` as a value. If a part has no native implementation, it runs on the
/// reference kernel, which allocates memory; the tactic names this part.
Tactic tacticOf(const KernelRequest& request, const LoweringOptions& options, const std::vector<Choice>& choices) {
  Tactic tactic{.backend = kBackend, .inputs = options.inputFormats, .outputs = options.outputFormats};
  setImplementation(request, options, choices, tactic);
  if (const ConvFormats* conv = convFormats(choices)) {
    tactic.parameters[kSource] = conv->from;
    tactic.parameters[kTarget] = conv->to;
  }
  if (const auto part = std::ranges::find_if(choices, &Choice::isReference); part != choices.end())
    tactic.parameters[kReference] = text(*part);
  const bool isNarrow = multipliesNarrow(choices);
  if (isNarrow) tactic.parameters[kNarrow] = std::string("bf16");
  const auto flushes = [](const Choice& choice) { return choice.kind.flushes; };
  tactic.numerics.flushes = isNarrow || holds(request, {"Sigmoid"}) || std::ranges::any_of(choices, flushes);
  const auto ofCodes = std::ranges::count(choices, Choice::Factors::Codes, &Choice::multiplies);
  tactic.numerics.emulated = static_cast<std::size_t>(ofCodes) < integerRoots(request);
  tactic.numerics.fastMath = tactic.parameters.contains(kKernel) && fastMathIsOn();
  tactic.name = nameOf(tactic);
  return tactic;
}

/// Returns the options by which a tactic is lowered. The same options are used to offer a tactic and to prepare it, so
/// that everything that is offered can be prepared.
LoweringOptions optionsOf(const Tactic& tactic) {
  LoweringOptions options{.inputFormats = tactic.inputs, .outputFormats = tactic.outputs};
  const Way way = wayOf(tactic);
  options.fuse = way != Way::Unfused;
  options.ownMatMul = way == Way::OwnMatMul;
  options.ownBytes = way == Way::OwnBytes;
  options.narrow = tactic.parameters.contains(kNarrow);
  const auto format = [&](const char* parameter) -> const MemoryFormat* {
    const auto found = tactic.parameters.find(parameter);
    return found == tactic.parameters.end() ? nullptr : std::get_if<MemoryFormat>(&found->second);
  };
  const MemoryFormat *from = format(kSource), *to = format(kTarget);
  if (from != nullptr && to != nullptr) options.convFormats = {*from, *to};
  return options;
}

/// Returns `options` with the formats of the convolution for the inputs that it reads and for the outputs that have its
/// result's extents.
LoweringOptions aroundConv(const KernelRequest& request, LoweringOptions options, const ConvFormats& conv) {
  const auto isLikeResult = [&](const TensorDesc& desc) {
    return canLieIn(desc.dtype, conv.to) && desc.dims == conv.result;
  };
  for (std::size_t i = 0; i < options.inputFormats.size(); ++i) {
    const ValueId value = request.fused->inputs[i];
    const TensorDesc& desc = request.values.at(value);
    const bool isSource = value == conv.source && canLieIn(desc.dtype, conv.from);
    options.inputFormats[i] = isSource ? conv.from : isLikeResult(desc) ? conv.to : MemoryFormat();
  }
  for (std::size_t i = 0; i < options.outputFormats.size(); ++i)
    if (isLikeResult(request.values.at(request.fused->outputs[i].value))) options.outputFormats[i] = conv.to;
  options.convFormats = {conv.from, conv.to};
  return options;
}

/// Returns whether it is oneDNN's own reference code, which is slow.
bool isSlow(const Choice& choice) {
  return choice.by == Choice::By::OneDnn && dnnlCodeOf(choice.implementation) == DnnlCode::Reference;
}

/// Returns the tactic that lowering by `options` gives, determined from descriptors without generating code. Returns
/// nothing if the lowering fails, if no kernel of ours is used, or if oneDNN has only its own reference code.
std::optional<Tactic> probed(const KernelRequest& request, LoweringOptions options) {
  options.probe = true;
  const auto lowered = guardDnnl<LoweredRegion>("a fused node", [&] { return lowerRegion(request, options); });
  if (!lowered.ok()) return std::nullopt;
  const std::vector<Choice>& choices = lowered.value().choices;
  if (!choices.empty() && std::ranges::all_of(choices, &Choice::isReference)) return std::nullopt;
  Tactic tactic = tacticOf(request, options, choices);
  const ConvFormats* conv = convFormats(choices);
  // A tactic is offered only under the option that asks for its way of multiplying.
  if (multipliesNarrow(choices) != options.narrow) return std::nullopt;
  if (std::ranges::any_of(choices, isSlow) && (conv != nullptr || options.narrow)) return std::nullopt;
  if (conv == nullptr) return tactic;
  // If its formats are given from outside, oneDNN may choose another convolution. The tactic must describe the one that
  // will be prepared.
  LoweringOptions around = aroundConv(request, options, *conv);
  const bool isSettled = options.convFormats == around.convFormats && options.inputFormats == around.inputFormats &&
                         options.outputFormats == around.outputFormats;
  return isSettled ? tactic : probed(request, std::move(around));
}

/// Adds the tactic unless an equal one, or one of the same name, is already in the list.
void addOnce(Tactic tactic, std::vector<Tactic>& tactics) {
  const auto isAlike = [&](const Tactic& other) { return other == tactic || other.name == tactic.name; };
  if (std::ranges::none_of(tactics, isAlike)) tactics.push_back(std::move(tactic));
}

void addTactic(const KernelRequest& request, const LoweringOptions& options, std::vector<Tactic>& tactics) {
  if (auto tactic = probed(request, options)) addOnce(std::move(*tactic), tactics);
}

/// Adds tactics for nodes that keep the format of what they read. Their inputs are read in `format` if they can be
/// delivered in it.
void addDelivered(const KernelRequest& request, const MemoryFormat& format, std::vector<Tactic>& tactics) {
  LoweringOptions options = plainOptions(request);
  const auto fits = [&](const TensorDesc& desc) {
    return canLieIn(desc.dtype, format) && format.fits(desc.dims) && format.padded(desc.dims) == desc.dims;
  };
  const Dims* shape = nullptr;
  for (const ValueId input : request.fused->inputs) {
    const TensorDesc& desc = request.values.at(input);
    if (canLieIn(desc.dtype, format) && format.fits(desc.dims) &&
        (shape == nullptr || productOf(desc.dims, 0) > productOf(*shape, 0)))
      shape = &desc.dims;
  }
  if (shape == nullptr) return;
  const bool concat = holds(request, {"Concat"});
  for (std::size_t i = 0; i < options.inputFormats.size(); ++i) {
    const TensorDesc& desc = request.values.at(request.fused->inputs[i]);
    if (fits(desc) && (concat || desc.dims == *shape)) options.inputFormats[i] = format;
  }
  const bool keeps =
      request.fused->kind == kinds::kGroupNorm ||  // the reshapes of which are part of the kernel
      !holds(request, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Expand",
                       "GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax", "ReduceSum"});
  for (std::size_t i = 0; keeps && i < options.outputFormats.size(); ++i)
    if (fits(request.values.at(request.fused->outputs[i].value))) options.outputFormats[i] = format;
  addTactic(request, options, tactics);
}

std::size_t rankOfConv(const KernelRequest& request) {
  const std::vector<RootBinding>& roots = kernelBindings(*request.fused).roots;
  const auto conv = std::ranges::find(roots, RootBinding::Kind::Convolution, &RootBinding::kind);
  if (conv == roots.end()) return 0;
  const auto found = request.values.find(request.plan->graph().node(conv->root).outputs[0]);
  return found == request.values.end() ? 0 : found->second.dims.size();
}

/// Adds tactics for convolutions and products of codes: by oneDNN in the formats for which it has kernels, and by our
/// own kernels.
void addQuantized(const KernelRequest& request, std::vector<Tactic>& tactics) {
  LoweringOptions options = plainOptions(request);
  addTactic(request, options, tactics);
  options.ownBytes = true;
  std::vector<Tactic> own;
  addTactic(request, options, own);
  // If our byte kernels cannot run it, these options lead to a tactic that is already in the list.
  const bool isOwn = !own.empty() && wayOf(own.front()) == Way::OwnBytes;
  if (isOwn && (tactics.empty() || tactics.front().name != own.front().name)) tactics.push_back(own.front());
}

void addConvs(const KernelRequest& request, std::vector<Tactic>& tactics) {
  for (const bool narrow : {true, false}) {
    if (narrow && !calculates(request, DataType::BF16)) continue;
    LoweringOptions options = plainOptions(request);
    options.narrow = narrow;
    addTactic(request, options, tactics);
    for (const MemoryFormat& format : usualFormats(rankOfConv(request))) {
      options.convFormats = {format, format};
      addTactic(request, options, tactics);
    }
  }
}

/// Returns whether oneDNN multiplies with its blocked kernels for AVX-512.
bool isByWideBlocks(const Tactic& tactic) {
  const auto kernel = tactic.parameters.find(kKernel);
  return kernel != tactic.parameters.end() && dnnlCodeOf(std::get<std::string>(kernel->second)) == DnnlCode::WideBlocks;
}

/// Orders the tactics of a product, the better guess first: our own kernel, but for large products oneDNN's kernel for
/// AVX-512. Both were measured in builds of twelve networks in f32 on two cores of an AMD EPYC with AVX-512 VNNI
/// (November 2026). In all 39 products of at least kLargeProduct operations, oneDNN's kernel was as fast as ours or up
/// to 1.4 times faster. In 30 smaller ones it was up to three times slower in 11, and faster in 8.
void addProducts(const KernelRequest& request, std::vector<Tactic>& tactics) {
  LoweringOptions options = plainOptions(request);
  std::vector<Tactic> own, library;
  options.ownMatMul = true;
  addTactic(request, options, own);
  options.ownMatMul = false;
  addTactic(request, options, library);
  const bool isLarge = request.fused->flops.value_or(0) >= kLargeProduct;
  if (isLarge && !library.empty() && isByWideBlocks(library.front())) own.swap(library);
  for (std::vector<Tactic>* group : {&own, &library})
    for (Tactic& tactic : *group) addOnce(std::move(tactic), tactics);
}

}  // namespace

std::vector<Tactic> nativeTactics(const KernelRequest& request) {
  std::vector<Tactic> tactics;
  if (!canLower(request)) return tactics;
  const ThreadScope threads(request.threads);
  LoweringOptions options = plainOptions(request);
  if (integerRoots(request) > 0) {
    addQuantized(request, tactics);
    return tactics;
  }
  if (hasRoot(*request.fused, RootBinding::Kind::Convolution)) {
    addConvs(request, tactics);
  } else if (bindsAttention(*request.fused)) {
    addTactic(request, options, tactics);
    if (!tactics.empty() && wayOf(tactics.front()) == Way::OwnAttention) return tactics;
    tactics.clear();  // the kernel cannot read one of the operands, so that the nodes run one by one
  } else if (hasRoot(*request.fused, RootBinding::Kind::Product)) {
    if (calculates(request, DataType::BF16)) {
      options.narrow = true;
      addTactic(request, options, tactics);
      options.narrow = false;
    }
    addProducts(request, tactics);
  } else {
    addTactic(request, options, tactics);
    for (const MemoryFormat& format : request.formats) addDelivered(request, format, tactics);
  }
  if (request.fused->nodes.size() > 1 && !kernelBindings(*request.fused).roots.empty()) {
    options.fuse = false;
    addTactic(request, options, tactics);
  }
  return tactics;
}

Result<std::unique_ptr<const Code>> compileNative(const KernelRequest& request, const Tactic& tactic) {
  const ThreadScope threads(request.threads);
  const auto unknown = [&]() -> Diagnostic {
    std::vector<std::string> names;
    for (const Tactic& known : nativeTactics(request)) names.push_back(known.name);
    names.emplace_back("reference");
    return {.message = "there is no tactic '" + tactic.name + "' for this node",
            .where = {.node = request.fused->name},
            .help = nearestInWords(tactic.name, names, "There are " + listed(names) + ".")};
  };
  const bool arity =
      tactic.inputs.size() == request.fused->inputs.size() && tactic.outputs.size() == request.fused->outputs.size();
  if (!arity || !canLower(request)) return unknown();
  const LoweringOptions options = optionsOf(tactic);
  LoweredRegion lowered =
      TRY(guardDnnl<LoweredRegion>("'" + request.fused->name + "'", [&] { return lowerRegion(request, options); }));
  if (tacticOf(request, options, lowered.choices) != tactic) return unknown();
  return std::move(lowered.code);
}

}  // namespace fusescope::native
