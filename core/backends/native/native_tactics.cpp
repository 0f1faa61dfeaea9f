#include "backends/native/native_tactics.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/onednn.h"
#include "base/text.h"

namespace fusescope::native {
namespace {

constexpr std::string_view kComposite = "composite";
constexpr std::string_view kAttention = "native:attention";
constexpr std::string_view kOwnMatMul = "native:matmul";

/// oneDNN sizes a primitive for the threads of the parallel regions that the preparing thread would enter.
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

/// Whether the plan multiplies quantised integers, for which there are float kernels only: they give the right results.
bool calculatesIntegers(const KernelRequest& request) {
  return std::ranges::any_of(request.fused->nodes,
                             [&](NodeId id) { return request.plan->calculates[id.index] == DataType::I8; });
}

LoweringOptions plainOptions(const KernelRequest& request) {
  return {.inputLayouts = std::vector<Layout>(request.fused->inputs.size(), Layout::Plain),
          .outputLayouts = std::vector<Layout>(request.fused->outputs.size(), Layout::Plain)};
}

bool runsTheReference(const std::string& part) {
  return part.ends_with(":reference");
}

/// The heaviest part of what a lowering came to, with its implementation.
std::string mainPart(const KernelRequest& request, const LoweringOptions& options,
                     const std::vector<std::string>& parts) {
  if (!options.fuse) return std::string(kComposite);
  for (std::string_view heavy : {"conv:", "attention", "matmul:"}) {
    for (const std::string& part : parts) {
      if (!part.starts_with(heavy) || runsTheReference(part)) continue;
      if (part == "matmul:own") return std::string(kOwnMatMul);
      return (heavy == "attention" ? "native:" : "onednn:") + part;
    }
  }
  return "native:" + request.fused->kind;
}

/// The identity of what a lowering came to. A part without an implementation of its own runs the reference kernel,
/// which allocates: the name says so.
std::string tacticName(const KernelRequest& request, const LoweringOptions& options, const Lowering& lowering) {
  const std::vector<std::string>& parts = lowering.implementations();
  std::string text = mainPart(request, options, parts);
  if (const auto part = std::ranges::find_if(parts, runsTheReference); part != parts.end()) return text + ":" + *part;
  const auto other = std::find_if(options.inputLayouts.begin(), options.inputLayouts.end(),
                                  [](Layout l) { return l != Layout::Plain; });
  const bool single = text == "native:" + request.fused->kind;
  if (single && other != options.inputLayouts.end()) text += ":" + std::string(name(*other));
  return text;
}

/// Lowers without preparing weights; adds the tactic unless its like is there or oneDNN has nothing but its own
/// reference code for it.
void addTactic(const KernelRequest& request, LoweringOptions options, std::vector<Tactic>& tactics) {
  Lowering lowering(request, options);
  const auto probed = guardDnnl<std::unique_ptr<const Code>>("a fused node", [&] { return lowering.lower(); });
  if (!probed.ok()) return;
  const std::vector<std::string>& parts = lowering.implementations();
  if (!parts.empty() && std::ranges::all_of(parts, runsTheReference)) return;  // no kernel of ours
  Tactic tactic{.name = tacticName(request, options, lowering),
                .inputLayouts = options.inputLayouts,
                .outputLayouts = options.outputLayouts,
                .emulated = calculatesIntegers(request)};
  if (const auto& conv = lowering.convLayouts()) {
    const Dims& result = conv->result;
    for (std::size_t i = 0; i < tactic.inputLayouts.size(); ++i) {
      const ValueId value = request.fused->inputs[i];
      const TensorDesc& desc = request.values.at(value);
      if (desc.dtype == DataType::F32)
        tactic.inputLayouts[i] = value == conv->source ? conv->from : desc.dims == result ? conv->to : Layout::Plain;
    }
    for (std::size_t i = 0; i < tactic.outputLayouts.size(); ++i) {
      const TensorDesc& desc = request.values.at(request.fused->outputs[i].value);
      tactic.outputLayouts[i] = desc.dims == result && desc.dtype == DataType::F32 ? conv->to : Layout::Plain;
    }
    const bool slow = std::ranges::any_of(
        parts, [](const std::string& part) { return part.ends_with(":ref") || part.ends_with("ref:any"); });
    if (slow) return;
  }
  const bool known =
      std::any_of(tactics.begin(), tactics.end(), [&](const Tactic& t) { return t.name == tactic.name; });
  if (!known) tactics.push_back(std::move(tactic));
}

/// For nodes that keep a layout: as their inputs are delivered.
void addDelivered(const KernelRequest& request, std::vector<Tactic>& tactics) {
  LoweringOptions options = plainOptions(request);
  const Dims* shape = nullptr;
  Layout layout = Layout::Plain;
  for (ValueId input : request.fused->inputs) {
    const TensorDesc& desc = request.values.at(input);
    if (desc.layout == Layout::Plain || desc.dtype != DataType::F32 || shape != nullptr) continue;
    shape = &desc.dims;
    layout = desc.layout;
  }
  if (shape == nullptr) return;
  const auto fits = [&](const TensorDesc& desc) {
    return desc.dtype == DataType::F32 && desc.dims.size() == shape->size() && desc.dims[1] % blockOf(layout) == 0;
  };
  const bool concat = holds(request, {"Concat"});
  for (std::size_t i = 0; i < options.inputLayouts.size(); ++i) {
    const TensorDesc& desc = request.values.at(request.fused->inputs[i]);
    if (fits(desc) && (concat || desc.dims == *shape)) options.inputLayouts[i] = layout;
  }
  const bool keeps =
      !holds(request, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Expand",
                       "GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax", "ReduceSum"});
  for (std::size_t i = 0; keeps && i < options.outputLayouts.size(); ++i) {
    if (fits(request.values.at(request.fused->outputs[i].value))) options.outputLayouts[i] = layout;
  }
  addTactic(request, options, tactics);
}

/// "plain>blocked8" or "blocked8": the layouts that a convolution reads and writes.
std::optional<std::pair<Layout, Layout>> parseLayouts(std::string_view text) {
  const auto one = [](std::string_view word) -> std::optional<Layout> {
    for (Layout layout : {Layout::Plain, Layout::ChannelsLast, Layout::Blocked8, Layout::Blocked16}) {
      if (word == name(layout)) return layout;
    }
    return std::nullopt;
  };
  const std::size_t cut = text.find('>');
  const auto from = one(text.substr(0, cut));
  const auto to = cut == std::string_view::npos ? from : one(text.substr(cut + 1));
  if (!from || !to) return std::nullopt;
  return std::pair(*from, *to);
}

}  // namespace

std::vector<Tactic> nativeTactics(const KernelRequest& request) {
  std::vector<Tactic> tactics;
  if (!Lowering::canLower(request)) return tactics;
  const ThreadScope threads(request.threads);
  LoweringOptions options = plainOptions(request);
  if (holds(request, {"Conv", "ConvTranspose"})) {
    addTactic(request, options, tactics);
    for (Layout layout : {Layout::Blocked8, Layout::Blocked16, Layout::ChannelsLast, Layout::Plain}) {
      options.convLayouts = {layout, layout};
      addTactic(request, options, tactics);
    }
    options.convLayouts.reset();
  } else if (Lowering::hasBoundAttention(*request.fused)) {
    addTactic(request, options, tactics);
    if (!tactics.empty() && tactics.front().name.starts_with(kAttention)) return tactics;
    tactics.clear();  // an operand that the kernel cannot take: node by node
  } else if (holds(request, {"MatMul", "Gemm"})) {
    options.ownMatMul = true;
    addTactic(request, options, tactics);
    options.ownMatMul = false;
    addTactic(request, options, tactics);
  } else {
    addDelivered(request, tactics);
    addTactic(request, options, tactics);
  }
  if (request.fused->nodes.size() > 1 && holds(request, {"Conv", "ConvTranspose", "MatMul", "Gemm"})) {
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
    return {.message = "there is no tactic '" + tactic.name + "' for this node here",
            .where = {.node = request.fused->name},
            .help = "The nearest: " + joined(nearestNames(tactic.name, names)) + "."};
  };
  const bool arity = tactic.inputLayouts.size() == request.fused->inputs.size() &&
                     tactic.outputLayouts.size() == request.fused->outputs.size();
  if (!arity || !Lowering::canLower(request)) return unknown();
  LoweringOptions options{.inputLayouts = tactic.inputLayouts, .outputLayouts = tactic.outputLayouts};
  options.fuse = !tactic.name.starts_with(kComposite);
  options.ownMatMul = tactic.name.starts_with(kOwnMatMul);
  constexpr std::string_view kConv = "onednn:conv:";
  if (tactic.name.starts_with(kConv)) {
    const std::string_view rest = std::string_view(tactic.name).substr(kConv.size());
    options.convLayouts = parseLayouts(rest.substr(0, rest.find(':')));
    if (!options.convLayouts) return unknown();
  }
  Lowering lowering(request, options);
  std::unique_ptr<const Code> code =
      TRY(guardDnnl<std::unique_ptr<const Code>>("'" + request.fused->name + "'", [&] { return lowering.lower(); }));
  if (tacticName(request, options, lowering) != tactic.name) return unknown();
  return code;
}

}  // namespace fusescope::native
